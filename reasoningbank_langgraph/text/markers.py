"""What links, special tokens of chat models, role markers and fences look like in folded text (lower case, NFKD)."""

from __future__ import annotations

import re

_URL = r"[!#-;=?-~]"  # printable ASCII without quotes and angle brackets: other scripts may follow with no space
_MARKUP = "img|script|iframe|svg|object|embed|video|audio|picture|link|meta|style|form"

LINK = re.compile(
    rf"""(?<!!)!++\[[^\[\]\n]{{0,500}}\](?:\([^()\n]{{0,2000}}\)|\[[^\[\]\n]{{0,200}}\])                 # image
    | \[[^\[\]\n]{{0,500}}\]\(\s?<?(?:[a-z][a-z0-9+.-]{{1,30}}:|//|www\.|\.?/|\#)[^()\n]{{0,2000}}\)   # link
    | <\s?(?:{_MARKUP})(?![a-z0-9])[^<>\n]{{0,2000}}> | <\s?img(?![a-z0-9])[^<>\n]{{0,2000}} | <\s?a\s[^<>\n]{{0,2000}}>
    | <?(?:[a-z][a-z0-9+.-]{{1,30}})?://{_URL}*>?
    | (?<![\w:/])//[a-z0-9-]{{1,63}}(?:\.[a-z0-9-]{{1,63}}){{1,8}}{_URL}*
    | www\.\w{_URL}*
    | data:(?:[a-z]{{1,30}}/[a-z0-9.+-]{{1,60}}|[^\s<>"]{{0,30}};base64,){_URL}*
    | (?:javascript|vbscript|(?<!\w)(?:mailto|blob|file|ftp)):(?=[^\s\d]){_URL}*
    | (?<!\d)(?<!\d\.)\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?!\d|\.\d)(?::\d{{1,5}})?(?:/{_URL}*)?
    | (?<![\w:])(?:[0-9a-f]{{1,4}}:){{7}}[0-9a-f]{{1,4}}(?![\w:])
    | (?<![\w:])(?=[0-9a-f:]{{0,40}}[0-9a-f]{{3}})(?:[0-9a-f]{{1,4}}:){{1,6}}(?::[0-9a-f]{{1,4}}){{1,6}}(?![\w:])""",
    re.VERBOSE,
)

_TAGS = (
    "s|think|thinking|thought|reasoning|analysis|tools?|tool_?calls?|tool_?response|functions?|function_?calls?|bos|eos"
    "|pad|unk|mask|sep|cls|memory|memories|notes?|lessons?|system|user|assistant|human|developer|model|instructions?"
    "|prompt|context|task|trajectory|attempt|answer|verdict|status|image|audio|video|sys|inst"
)
_WITH_ATTRIBUTES = "memory|memories|notes?|lessons?|system|user|assistant|human|instructions?|tool_call|function|think"
_BRACKETS = (
    "inst|sys|system|system_prompt|available_tools|tool_calls|tool_results?|tool_content|think|img|img_break|img_end"
    "|bos|eos|cls|sep|mask|pad|unk|gmask|sop|eop|args|call_id|prefix|suffix|middle"
)
_NAME = r"/?[a-z][a-z_]{1,40}"

TOKEN = re.compile(
    rf"""<[ /]{{0,3}}\|(?P<pipes>[^<>|\n]{{1,60}})\|\s?>                            # <|im_start|>
    | <\s?\|\s?(?P<left>{_NAME})\s?> | <\s?(?P<right>{_NAME})\s?\|\s?>              # <|turn>, <turn|>
    | <<\s?(?P<sys>/?\s?sys)\s?>>
    | <\s?(?P<tag>/?\s?(?:{_TAGS}))\s?/?\s?>                                        # <s>, </think>
    | <\s?(?P<attributes>/?\s?(?:{_WITH_ATTRIBUTES})\s[^<>\n]{{0,200}})>
    | <\s?(?P<long>/?\s?[a-z][a-z0-9]{{0,30}}(?:_[a-z0-9]{{1,30}}){{1,6}})\s?/?\s?> # <start_of_turn>
    | <(?P<byte>0x[0-9a-f]{{2}}|unused\d{{1,5}})>
    | \[\s?(?P<bracket>/?\s?(?:{_BRACKETS}))\s?\]                                   # [INST]
    | (?P<comment><!--|-->)
    | (?P<block>`{{3,}}|^(?:[^\S\n]|[>*+-])*+~{{3,}})
    | (?<!=)(?P<ours>={{3,}}+)(?=[ \t]{{0,3}}(?:begin|end)(?![a-z]))""",
    re.VERBOSE | re.MULTILINE,
)

# Answer, question and task are everyday words at the start of a line; as headings they are a prompt's own.
_ROLES = "human|user|assistant|system|developer|tools?|function|model|ai|bot|ipython|instructions?|verdict|status|judge"
_HEADINGS = rf"(?:{_ROLES}|response|input|output|question|answer|task)"
_LEAD = r"^(?:[^\S\n]|[>*\#_+-])*+"
ROLE = re.compile(
    rf"""{_LEAD}(?P<role>{_ROLES})(?=[*_\#\ \t]*+:)
    | ^(?=[^\w\n]*\#){_LEAD[1:]}(?P<heading>{_HEADINGS}(?=[ \t]*+(?:[^\w\s]|_|$))|memory\ items?(?![a-z]))
    | {_LEAD}(?P<to>assistant)(?=\s{{1,8}}to\s?=)""",
    re.VERBOSE | re.MULTILINE,
)

LEFTOVER = re.compile(r"[<>\[\]`~=|]")
