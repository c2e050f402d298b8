"""Special tokens and tags of chat models, by family: what a tokeniser or a parser of tool calls acts on."""

# ruff: noqa: E501 - a family reads best on one line
TOKENS = {
    family: text.split("  ")
    for family, text in {
        "Llama": "<|begin_of_text|>  <|end_of_text|>  <|header_start|>  <|header_end|>  <|start_header_id|>  <|eot|>  <|eot_id|>  <|eom|>"
        "  <|eom_id|>  <|step|>  <|python_tag|>  <|python_start|>  <|reserved_special_token_0|>  <|image_start|>  <function=f>  </function>",
        "Gemma": "<start_of_turn>  <end_of_turn>  <bos>  <eos>  <pad>  <start_function_call>  <end_function_call>"
        "  <start_function_response>  <escape>  <start_of_image>  <image_soft_token>  <unused0>  [@BOS@]  [multimodal]  <|turn>  <turn|>  <|tool_call>",
        "DeepSeek": "<｜begin▁of▁sentence｜>  <｜end▁of▁sentence｜>  <｜User｜>  <｜Assistant｜>  <｜tool▁calls▁begin｜>  <｜tool▁call▁begin｜>"
        "  <｜tool▁sep｜>  <｜tool▁calls▁end｜>  <｜tool▁outputs▁begin｜>  <｜▁pad▁｜>  <|EOT|>  <｜DSML｜function_calls>  </｜DSML｜invoke>"
        '  <｜DSML｜invoke name="x">  <｜DSML｜parameter name="q" string="true">',
        "Anthropic": '<function_calls>  </function_calls>  <invoke>  <invoke name="x">  </invoke>  <parameter name="y">  </parameter>'
        '  <ns:function_calls>  <ns:invoke name="x">  </ns:invoke>  <ns:parameter name="y">  <thinking>  <function_results>  <result>',
        "Phi, Granite, Command": "<|assistant|>  <|user|>  <|system|>  <|end|>  <|tool|>  <|/tool|>  <|start_of_role|>  <|end_of_role|>  <|tool_call|>"
        "  <|START_OF_TURN_TOKEN|>  <|END_OF_TURN_TOKEN|>  <|CHATBOT_TOKEN|>  <|START_ACTION|>  <EOS_TOKEN>  <tool_call>  <co: 0>  functools[",
        "SmolLM, StarCoder": "<|endoftext|>  <|im_start|>  <|im_end|>  <repo_name>  <reponame>  <file_sep>  <filename>  <gh_stars>  <issue_start>"
        "  <issue_comment>  <jupyter_code>  <jupyter_output>  <empty_output>  <fim_prefix>",
        "Mistral": "[INST]  [/INST]  [TOOL_CALLS]  [AVAILABLE_TOOLS]  [/AVAILABLE_TOOLS]  [TOOL_RESULTS]  [SYSTEM_PROMPT]  [ARGS]  [CALL_ID]  [IMG]"
        "  [THINK]  [/THINK]  [MODEL_SETTINGS]  [BEGIN_AUDIO]  [REFERENCE_DOC_0]  [control_12]  [SUFFIX]  <<SYS>>  <s>  </s>  <SPECIAL_12>",
        "Qwen": "<tool_response>  </tool_response>  <think>  </think>  <tools>  <tool-call>  <|vision_start|>  <|object_ref_start|>  <parameter=x>",
        "Harmony": "<|start|>  <|channel|>  <|message|>  <|call|>  <|return|>  <|constrain|>",
        "Kimi": "<|im_user|>  <|im_middle|>  <|tool_calls_section_begin|>  <|tool_call_argument_begin|>  [BOS]  [EOS]  [EOT]  [PAD]  [start_header_id]",
        "GLM": "[gMASK]  [sMASK]  <sop>  <eop>  <|observation|>  <arg_key>  </arg_value>  <|begin_of_image|>",
        "MiniMax": "]~b]  ]~!b[  [e~[  <minimax:tool_call>  </minimax:tool_call>  <beginning_of_sentence>",
        "Nemotron, OLMo": "<extra_id_0>  <SPECIAL_10>  <TOOLCALL>  </TOOLCALL>  <AVAILABLE_TOOLS>  |||IP_ADDRESS|||  <|endofprompt|>",
        "others": "[|user|]  [|assistant|]  [|endofturn|]  <eoh>  <eoa>  [UNUSED_TOKEN_146]  <reserved_106>  <|startoftext|>  <seed:bos>"
        "  <seed:tool_call>  <mask:1>  <｜hy_User｜>  >>QUESTION<<  <end_of_utterance>  <0x0A>  [CLS]  <answer>  <document>",
    }.items()
}
