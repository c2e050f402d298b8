"""What links, special tokens of chat models and fences look like in folded text (NFKD, look-alikes as ASCII).

Shapes come before names: models are many and their tokens few in kind. Names are listed where the shape alone is one
of mathematics or code, such as `<s>`, `a[mask]` or `List<User>`.
"""

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
    re.VERBOSE | re.IGNORECASE,
)

_NOUNS = (
    "user|assistant|human|system|developer|model|message|function|tool|image|audio|video|memory|note|lesson|task|prompt"
    "|context|instruction|trajectory|attempt|answer|verdict|status|result|output|document|observation|parameter"
)
_TAGS = (
    rf"(?:{_NOUNS})s?|memories|s|think|thinking|thoughts?|reasoning|analysis|scratchpad|tool_?calls?|tool_?(?:response|use)"
    "|function_?calls?|invoke|bos|eos|eot|bom|eom|eod|sop|eop|eoh|eoa|pad|unk|mask|sep|cls|sys|inst|ipython|escape|co"
    "|start|end|filename|reponame"
)
_WITH_ATTRIBUTES = (
    "memory|memories|notes?|lessons?|system|user|assistant|human|instructions?|tool_?calls?|tool_?(?:response|use)|tools?"
    "|functions?|invoke|parameter|think|thinking|mask|co|documents?|results?"
)
_CONTROL = (
    "start|begin|beginning|end|bos|eos|eot|turn|tools?|calls?|functions?|role|user|system|assistant|human|fim|think"
    "|response|token|header|special|unused|reserved|extra|pad|sep|image|audio|video|img|memory|notes|instructions?"
)
_BRACKETS = (
    "sys|system|system_prompt|available_tools|tool_calls|tool_results?|tool_content|think|img|img_break|img_end|audio"
    "|bos|eos|eot|cls|sep|mask|pad|unk|sop|eop|args|call_id|prefix|suffix|middle|user|assistant|ref"
)
_SNAKE = r"[a-z][a-z0-9]{1,30}(?:_[a-z0-9]{1,30}){0,5}"
_NAME = r"/?[a-z][a-z_]{1,40}"

TOKEN = re.compile(
    rf"""(?P<generic>(?<=\w)<(?-i:(?=[A-Z][a-z]))(?:{_NOUNS})s?>)                            # List<User>
    | <[ /]{{0,3}}\|(?P<pipes>[^<>|\n]{{1,60}})\|\s?>                            # <|im_start|>
    | <[ /]{{0,3}}\|(?P<dialect>{_NAME}\|\s?{_NAME})[^<>\n]{{0,200}}>            # <|DSML|invoke name="x">
    | <\s?\|\s?(?P<left>{_NAME})\s?> | <\s?(?P<right>{_NAME})\s?\|\s?>           # <|turn>, <turn|>
    | <<\s?(?P<sys>/?\s?sys)\s?>>
    | <\s?(?P<tag>/?\s?(?:{_TAGS}))\s?/?\s?>                                     # <s>, </think>
    | <\s?(?P<attributes>/?\s?(?:{_WITH_ATTRIBUTES})[\s=:][^<>\n]{{0,200}})>     # <function=f>
    | <\s?(?P<space>/?\s?[a-z][\w.-]{{1,30}}:[a-z]\w{{1,40}})(?:\s[^<>\n]{{0,200}})?/?>   # <ns:invoke>
    | (?!(?<=\w)<{_SNAKE}_(?:t|type|ptr|map|set|list|view)>)<\s?(?P<long>/?\s?{_SNAKE}_[a-z0-9]{{1,30}})\s?/?\s?>
    | <\s?(?=/?\s?[a-z0-9-]{{0,80}}(?<![a-z])(?:{_CONTROL})(?![a-z]))
        (?P<dashed>/?\s?[a-z][a-z0-9]{{1,30}}(?:-[a-z0-9]{{1,30}}){{1,6}})\s?/?\s?>                # <tool-call>
    | <(?P<byte>0x[0-9a-f]{{2}}|unused\d{{1,5}})>
    | \[\s?(?P<inst>/?\s?inst)\s?\] | \[(?P<kept>[gs]mask|multimodal|(?:start|end)_header_id|control_\d{{1,4}})\]
    | (?:(?<!\w)|(?-i:(?=\[\s?/?\s?[A-Z])))\[\s?(?P<bracket>/?\s?(?:{_BRACKETS}))\s?\]
    | \[(?P<capitals>(?-i:/?[A-Z]{{2,20}}(?:_(?:[A-Z]{{1,20}}|\d{{1,4}})){{1,4}}))\]   # [TOOL_CALLS]
    | \[(?:\||@)(?P<framed>/?(?:user|assistant|system|tool|think|bos|eos|end[a-z]{{2,12}}))(?:\||@)\]   # [|user|]
    | \|\|\|(?P<bars>(?-i:[A-Z]{{2,20}}(?:_[A-Z]{{2,20}}){{0,3}}))\|\|\| | >>(?P<angles>(?-i:[A-Z]{{4,20}}))<<
    | (?P<odd>\]~!?b[\[\]]|\[e~\[) | (?P<call>functools)(?=\s?\[)
    | (?P<comment><!--)
    | ^(?=[^\w\n]*\#)[^\w\n]*+(?P<item>memory\ items?)(?![a-z])
    | (?P<block>`{{3,}}+|^(?:[^\S\n]|[>*+-])*+~{{3,}})""",
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)

# The lines of a fence, with any blanks and punctuation on the way to the word.
FENCE = re.compile(r"(?P<ours>=(?:[^\S\n]*+=)*+)(?P<word>(?:[^\w\n\\&$=]|_)*+(?:begin|end)(?![a-z]))?", re.IGNORECASE)

LEFTOVER = re.compile(r"[<>\[\]`~=|]")
