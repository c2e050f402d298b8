"""What secrets look like: keys and tokens with a shape of their own, and passwords that are named."""

from __future__ import annotations

import re
from itertools import pairwise

_HEX32 = r"[0-9a-f]{32}(?![0-9a-f])"
_PREFIXED = (
    r"sk-[a-zA-Z0-9_-]{16,}|(?:sk|pk|rk)_(?:live|test)_[a-zA-Z0-9]{10,}|whsec_[\w+/=-]{16,}"
    r"|(?:AKIA|ASIA|AGPA|AIDA|AROA)[0-9A-Z]{12,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}"
    r"|gl(?:pat|dt|rt|soat|ptt|cbt)-[\w-]{16,}|gl(?:sa|c)_\w{20,}"
    r"|xox[abceprs](?:\.[a-z]+)?-[\w-]{10,}|xapp-[\w-]{20,}|AIza[\w-]{30,}|GOCSPX-[\w-]{20,}|ya29\.[\w-]{20,}|1//0[\w-]{24,}"
    r"|hf_[A-Za-z0-9]{20,}|api_org_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{16,}|SG\.[\w-]{16,}\.[\w-]{16,}"
    r"|(?:gsk|lsv2_pt|lsv2_sk|dop_v1|doo_v1|r8|pcsk|ntn|lin_api|sntrys|sntryu|shp(?:at|ca|pa|ss)|rubygems|dp\.pt)[_.]\w{20,}"
    r"|(?:xai|pplx|tvly|nvapi|fw|csk|sess|jina)[-_](?=\w{0,80}\d)[\w-]{20,}|dckr_pat_[\w-]{20,}|hv[sbr]\.[\w-]{20,}"
    r"|ATATT3[\w=-]{20,}|PMAK-[\w-]{20,}|AGE-SECRET-KEY-1[0-9A-Z]{30,}|sq0[a-z]{3}-[\w-]{20,}"
    rf"|dapi{_HEX32}|key-{_HEX32}|(?:AC|SK){_HEX32}|(?:bot)?\d{{8,10}}:AA[\w-]{{30,}}"
)
# Latin, Greek and Cyrillic, marks between them; scripts that write words without blanks end no word by going on.
_ALPHABETS = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u052f"
_START = rf"(?<![{_ALPHABETS}0-9_])"

API_KEY = re.compile(
    rf"""(?<![A-Za-z0-9])(?:{_PREFIXED})
    | (?P<name>{_START}hooks\.slack\.com/(?:services|workflows|triggers)/)[\w/-]{{16,200}}
    | (?P<name2>{_START}discord(?:app)?\.com/api/webhooks/)\d{{5,25}}/[\w-]{{16,200}}""",
    re.VERBOSE,
)

PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=\s,:\\]|-(?!----)){0,20000}+"
    r"(?:-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----)?"
)

# One attempt for a run of such characters, however often it says eyJ.
JWT = re.compile(r"(?<![\w-])(?P<name>(?:(?!eyJ)[\w-])*+)eyJ[\w-]{5,}+\.[\w-]{2,}+(?:\.[\w-]*+){0,3}")

_HEADER = rf"""{_START}(?:proxy-)?authorization["']?\s{{0,3}}[:=]\s{{0,3}}["']?"""
_SCHEME = r"(?:bearer|basic|token|apikey|api-key|digest|negotiate)"
BEARER = re.compile(
    rf"""(?P<name>{_HEADER}{_SCHEME}\s{{1,3}})(?!\[)[^\s"',;]{{6,4000}}
    | (?P<name2>{_HEADER})(?=[^\s"',;]{{0,100}}\d)[^\s"',;]{{16,4000}}
    | (?P<name3>{_START}bearer\s{{1,3}})
        (?=[^\s"']{{0,400}}\d|(?-i:[a-z0-9]{{0,40}}[A-Z]{{1,40}}[a-z]))[\w.~+/=-]{{12,4000}}
    | (?P<name4>{_START}basic\s{{1,3}})[A-Za-z0-9+/]{{16,4000}}={{1,2}}""",
    re.VERBOSE | re.IGNORECASE,
)

_SURE = (
    r"pass(?:word|wd|phrase|code)|secret|api[ _.-]?key|connection[ _.-]?string|session[ _.-]?id|credential"
    r"|(?:access|account|private|signing|encryption|master|shared|storage)[ _.-]?(?:access[ _.-]?)?key"
    r"|(?:access|auth|refresh|bearer|session|id|api)[ _.-]?token"
)
_EDGE = r"(?:(?<![A-Za-z])|(?-i:(?<=[a-z0-9])(?=[A-Z])))"
_END = r"(?:(?![A-Za-z])|(?-i:(?<=[a-z])(?=[A-Z])))"
_WORD = rf"(?:(?:{_SURE})|{_EDGE}(?:token|auth|pwd|pass|sig|signature){_END})"
# Names that speak of a secret and do not hold it.
_ABOUT = (
    r"s?[ _.-]?(?:count|limit|len|length|size|type|name|file|path|dir|url|uri|field|policy|expir|ttl|min|max|budget"
    r"|usage|reset|hint|per|used|rate|rotat|manager|version|prefix|format|index|at|less)"
)
_NAME = (
    r"(?<![\w.-])(?=[\w.-]{1,100}+(?:\ \w{2,8})?[\"']?\s{0,3}[:=])"
    rf"(?=[\w.-]{{0,80}}?{_WORD}(?!{_ABOUT})(?:[ _.-]?[A-Za-z0-9]{{1,20}}){{0,2}}[\"']?\s{{0,3}}[:=])"
    r"[\w.-]{1,100}+(?:\ (?:key|token|secret|password|id|string)s?)?"
)
# The names of secrets in other languages, as they are written and as a decomposed text has them.
_ABROAD = (
    r"contrase(?:ñ|n\u0303?|ny)as?|clave[ _](?:secreta|de[ _](?:api|acceso)|api)|passwort|kennwort|geheimwort"
    r"|(?:api|geheim)[ _-]?schl(?:ü|ue|u\u0308)ssel|mots?[ _-]?de[ _-]?passe|motdepasse"
    r"|cl(?:é|e\u0301?)[ _](?:secr(?:è|e\u0300?)te|(?:d')?api)|senha|chave[ _](?:secreta|de[ _]api|api)"
    r"|parola(?:\ d'ordine)?|wachtwoord|l(?:ö|o\u0308)senord|adgangskode|passord|salasana|hasło|heslo"
    r"|jelsz(?:ó|o\u0301)|(?:ş|s\u0327)ifre|парол[ья]|секретный\ ключ|ключ[ -]api|api[ -]ключ|κωδικ(?:ό|ο\u0301)ς"
    r"|mật\ khẩu|kata\ sandi"
)
_ABROAD_IS = r"(?:es|ist|lautet|war|est|é|è|era|är|er|to|—|–|-)"
_UNSPACED = (
    r"(?:密[码碼]|口令|(?:api\s?)?密[钥鑰]|パスワード|비밀번호|암호|패스워드|סיסמה|كلمة\ (?:المرور|السر)|รหัสผ่าน|पासवर्ड)"
)
_NAMED_ABROAD = (
    rf"(?:{_START}(?:[a-z0-9]{{1,20}}[_.-]){{0,2}}(?:{_ABROAD})|{_UNSPACED})[\"']?\s?(?::=|=>|[:=])\s{{0,3}}"
    rf"|{_START}(?:{_ABROAD})(?:\s[^\W\d_]{{2,20}}){{0,2}}\s{_ABROAD_IS}\s"
    rf"|{_UNSPACED}\s?(?:[は是为為는은가]\s?)?"
)
# Not a word of prose: letters and a digit or a sign, in ASCII, and no address.
_REVEALED = (
    r"(?!https?:)(?=[!-~]{0,80}[\d!@#%&*])(?=[!-~]{0,80}[a-z])"
    r"(?:[\w!#%&*+./:=?@^`|~-](?<=[!-~])){6,80}(?<![.?!:])"
)
_VALUE = r"[^\s\"',;&\[\](){}\\$<>]"
NAMED = re.compile(
    rf"""(?P<option>(?<!-){_START}--?[a-z-]{{0,40}}
            (?:password|passwd|secret|token|api-key|apikey|access-key)(?:\s{{1,3}}|=))
        (?P<given>"[^"\n]{{1,400}}"|'[^'\n]{{1,400}}'|(?![-$\[<{{(])[^\s"']{{1,400}})
    | (?P<name>{_NAME}["']?\s{{0,3}}(?::=|=>|[:=])\s{{0,3}}(?:b|f|r)?)
        (?:(?P<quote>["'])(?P<quoted>[^"'\n\\]{{4,400}})(?=(?P=quote)) | (?P<bare>{_VALUE}{{6,400}}))
    | (?P<prose>{_START}(?:password|passcode|passphrase|api\ key)\s(?:is|was)\s["']?)
        (?P<told>(?=[^\s"']{{0,80}}\d)(?=[^\s"']{{0,80}}[a-z]){_VALUE}{{5,80}}[^\s"',;.)])
    | (?P<abroad>{_NAMED_ABROAD})
        (?:(?P<mark>["'])(?P<shown>[ -!#-&(-\[\]-~]{{4,400}})(?=(?P=mark)) | (?P<revealed>{_REVEALED}))
    | (?P<curl>(?<!-){_START}(?:-u|--user)\s{{1,3}}["']?)
        (?P<pair>(?!\d{{1,6}}:\d{{1,6}}(?!\w))[^\s:"']{{1,100}}:[^\s"']{{1,200}})
    | (?P<query>[?&](?:sig|signature|token|key|auth|code|x-amz-(?:signature|security-token))=)
        (?P<part>[\w%+/.~=-]{{8,4000}})
    | (?P<login>(?<=://))(?P<userinfo>[^\s/:@]{{0,100}}:[^\s/@]{{1,200}})(?=@[\w.-])""",
    re.VERBOSE | re.IGNORECASE,
)

NAMED_HINTS = (
    *("pass", "secret", "key", "connection", "session", "credential", "token", "auth", "pwd", "sig", "code=", "://"),
    *("-u", "contrase", "clave", "kennwort", "geheim", "schl", "cle ", "cle_", "senha", "chave", "parola"),
    *("wachtwoord", "adgangskode", "salasana", "heslo", "sandi"),
)
"""One of these is in every ASCII text, in small letters, that `NAMED` finds something in."""

EMAIL = re.compile(
    rf"(?<![.+-]){_START}[{_ALPHABETS}0-9][\w\u0300-\u036f.+-]{{0,63}}"
    rf"@(?:[{_ALPHABETS}0-9-]{{1,63}}\.){{1,6}}[{_ALPHABETS}]{{2,24}}(?![{_ALPHABETS}0-9_-])"
)
PHONE = re.compile(
    rf"(?<![)\]}}$\\+]){_START}\+"
    r"(?:\d{10,15}|\d{1,3}(?:[ .-]?\(\d{1,4}\))?(?:[ .-]\d{1,8}){2,6})(?!\d|[.,]\d)"
)
CARD = re.compile(
    r"(?<![\d.-])(?<!\d[ ,])(?:\d{4}([ -])\d{4}\1\d{4}\1\d{4}|3[47]\d{2}([ -])\d{6}\2\d{5})(?![ -]?\d|[.,]\d)"
)

_ISSUER = re.compile(r"4|5[0-8]|2[2-7]|3[457]|6")
_CODES = re.compile(
    r"1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]"
    r"|2(?:1[1-8]|[2-69]\d)|3[578]\d|42[0-3]|5[09]\d|6[7-9]\d|8(?:0[08]|[578]\d)|9[679]\d"
)
_OPERAND = re.compile(r"(?:[\d)}=$+*/^]|(?:^|[^A-Za-z])[A-Za-z])[ \t]*\Z")
_PLACEHOLDER = re.compile(
    r"[\"'*.x<>\[\]_-]*|\[[a-z ]+ removed\]?|(?:none|null|true|false|str|string|required|optional)", re.IGNORECASE
)
_CODE = re.compile(r"[.]|pass|secret|token|key|pwd|value|name|input", re.IGNORECASE)
_OPTION_WORDS = frozenset(
    ["to", "is", "and", "or", "for", "option", "options", "flag", "with", "as", "in", "on", "the", "a"]
)


def is_named(found: re.Match[str]) -> bool:
    """Say whether a value that a name announces is one: not a word of code, prose or the name itself."""
    if found["given"]:
        return found["given"].lower() not in _OPTION_WORDS
    if not found["name"]:
        return not (found["shown"] and _PLACEHOLDER.fullmatch(found["shown"]))
    value = found["quoted"] or found["bare"]
    if _PLACEHOLDER.fullmatch(value):
        return False
    sure = re.search(_SURE, found["name"], re.IGNORECASE) is not None
    if (sure and found["quoted"]) or _is_setting(found["name"], value, sure=sure):
        return True
    return bool(re.search(r"\d|[!@#%^&*+~?-]", value)) and not (found["quoted"] and " " in value)


def _is_setting(name: str, value: str, *, sure: bool) -> bool:
    """Say whether a plain word is set as in a shell or a settings file, and is no name of the code around it."""
    if name.upper() == name:
        return sure or "=" in name
    return sure and name.endswith("=") and not _CODE.search(value)


def is_card(text: str) -> bool:
    """Check the issuer and the Luhn sum; round numbers, years and other numbers in equal steps are numbers."""
    digits = [int(char) for char in text if char.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    if not _ISSUER.match(text) or (sum(digits[-1::-2]) + sum(doubled)) % 10:
        return False
    groups = [int(group) for group in re.findall(r"\d+", text)]
    steps = {after - before for before, after in pairwise(groups)}
    return not (all(group % 10 == 0 for group in groups) or (len(steps) == 1 and steps != {0}))


def is_phone(text: str, before: str) -> bool:
    """Check the country code, the number of digits, and that the plus does not add to what stands before it."""
    first, *others = re.findall(r"\d+", text)
    digits = len(first) + sum(map(len, others))
    if _OPERAND.search(before) or not 7 <= digits <= 15:
        return False
    if not others:
        return digits == 11 if first[0] == "1" else _CODES.match(first) is not None
    if first == "1":
        return others[0][0] > "1" and digits in (8, 11)
    thousands = digits < 10 and all(len(group) == 3 for group in others) and "(" not in text and "-" not in text
    return _CODES.fullmatch(first) is not None and not thousands
