"""Made-up secrets by kind, a hundred in all, and texts that only look like some."""

# ruff: noqa: E501 - a secret is one line
from __future__ import annotations

from random import Random

_RANDOM = Random(20)
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def _text(length: int, letters: str = _LETTERS) -> str:
    return "".join(_RANDOM.choices(letters, k=length - 1)) + "7"


def _card(prefix: str, length: int) -> str:
    """A number with a right check digit, in the groups cards are printed in."""
    digits = prefix + "".join(_RANDOM.choices("0123456789", k=length - len(prefix) - 1))
    odd = [sum(divmod(2 * int(digit), 10)) for digit in digits[::-2]]
    check = -(sum(odd) + sum(map(int, digits[-2::-2]))) % 10
    whole = digits + str(check)
    cuts = (4, 10, 15) if length == 15 else (4, 8, 12, 16)
    return " -"[int(check) % 2].join(whole[start:end] for start, end in zip((0, *cuts), cuts, strict=False))


def _key_block(kind: str) -> str:
    body = "\n".join(_text(64) for _ in range(4))
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{body}==\n-----END {kind}PRIVATE KEY-----"


API_KEYS = [
    "sk-test-0000000000000000000000", "AKIA0000000000000000", *(f"sk-{_text(48)}" for _ in range(4)), f"sk-proj-{_text(60)}",
    f"sk-ant-api03-{_text(80)}", *(f"AKIA{_text(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}" for _ in range(3)), f"ASIA{_text(16, 'ABCDEFGH7')}",
    *(f"gh{kind}_{_text(36)}" for kind in "posur"), f"github_pat_{_text(60)}", f"glpat-{_text(20)}", f"xoxb-{_text(12, '0123456789')}-{_text(24)}",
    f"AIza{_text(35)}", f"hf_{_text(34)}", f"npm_{_text(36)}", f"sk_live_{_text(24)}", f"rk_test_{_text(24)}", f"SG.{_text(22)}.{_text(43)}",
    "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", "ya29.a0AfH6SMBx7Qk2pL9vT3nR8", "1//0gLu3xQz7CgYIARAAGBASNwF-L9Ir", "xapp-1-A05oR0Dglj7-1234567890-fjMgVTYXS57M7ggd", "xoxc-2345678901-abcdefgh",
    "https://hooks.slack.com/services/T0AB12CD3/B0EF45GH6/abcdefghijklmnop12345678", "https://discord.com/api/webhooks/123456789012345678/abcDEF-ghi_jkl123",
    f"whsec_{_text(32)}", f"glrt-{_text(20)}", f"glsa_{_text(32)}", f"hvs.{_text(24)}", f"dapi{_text(32, '0123456789abcdef')}", f"SK{_text(32, '0123456789abcdef')}", f"pplx-{_text(40)}",
    f"xai-{_text(40)}", f"sk-or-v1-{_text(40)}", f"123456789:AA{_text(33)}", f"bot123456789:AA{_text(33)}", "pypi-AgEIcHlwaS5vcmcCJDAwMDAwMDAw", f"shpat_{_text(32)}", "AKIA\xadIOSFODNN7EXAMPLE", "AKIA\u200bIOSFODNN7EXAMPLE", "ＡＫＩＡIOSFODNN7EXAMPLE", "sk-\u2060abcdefghij0123456789",
    f"gsk_{_text(52)}", f"lsv2_pt_{_text(32)}_{_text(10)}", f"pypi-{_text(60)}", f"dckr_pat_{_text(27)}",
]  # fmt: skip
TOKENS = [
    "eyJhbGciOiJub25lIn0.e30.", *(f"eyJ{_text(30)}.eyJ{_text(60)}.{_text(43)}" for _ in range(5)),
    "Authorization: Bearer IHSLYzzIDcXqzcjWopQmIDUyrnsaghqNWsmpGygB", '"Authorization": "Bearer abcdefghij"', "curl -H 'authorization: bearer s3cr3ttok3n' x", "{'Authorization': 'Token 9944b09199c62bcf'}",
    "Authorization=Basic dXNlcjpwYXNz", "Proxy-Authorization: Basic dXNlcjpwYXNz", "Bearer AbCdEfGhIjKlMnOpQrStUvWxYz", "Authorization: 9f8e7d6c5b4a39281706f5e4", "e\u200byJhbGciOiJub25lIn0.e30.",
    *(f"Authorization: Bearer {_text(40)}" for _ in range(3)), f"authorization: bearer {_text(20)}.{_text(20)}", "Authorization: Basic dXNlcjpwYXNzd29yZDEyMw==",
]  # fmt: skip
PASSWORDS = [
    "password=hunter2x", "password: s3cr3t-pa55", 'PASSWORD = "Tr0ub4dor&3"', "passwd=abc12345", "pwd: q1w2e3r4", '"api_key": "0a1b2c3d4e5f"',
    "API-KEY=zz9-plural-z", "secret=my-secret-1", "client_secret: 9f8e7d6c5b", "DB_PASSWORD=pr0duction", "access_token=abcdef123456",
    "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "OPENAI_ORG_API_KEY=abcdef0123456789", "db.password: pa55word", '"clientSecret": "correct horse"', "--password x", "--password=hunter",
    "PGPASSWORD=correcthorse", "mysql -u root --password 'a b'", "export GITHUB_TOKEN_PROD=abcdef123456", "spring.datasource.password=hunter2x", "x-api-key: 0123456789abcdef", "apiKeyValue: 'abc123def'",
    "AccountName=store;AccountKey=Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4ZmE==;EndpointSuffix=x", "SharedAccessKeyName=Root;SharedAccessKey=abcDEF123ghiJKL456=", "?sv=2022-11-02&sr=b&sig=abcDEF123%2Fghi%3D&se=x",
    "https://x.invalid/a?token=abcdefgh12345678", "//registry.invalid/:_authToken=abcdef-1234", "curl -u bob:hunter2 x", '"accessToken": "abcdefgh"', "password: 'letmein'", '"db_password" : "letmein"', "SECRET_KEY_BASE=0a1b2c3d4e5f", "private_key_id=0a1b2c3d4e5f6a7b",
    "p\u200bassword=hunter2x", "ｐａｓｓｗｏｒｄ=hunter2x", "session_id: 8f14e45fceea167a", "encryption-key = k3y-material-1", "passphrase: tr1cky-one", "API key: 0a1b2c3d4e5f", "aws_session_token=FwoGZXIvYXdzEBYaD1234",
    "OPENAI_API_KEY: abcdefghijklmnop", "_auth=dXNlcjpwYXNzd29yZA==", "db.password=hunter", "the password is hunter2x", "API_KEY: letmein", "DB_PASS=letmein", "HUB_TOKEN=abcdefabcdef",
    "auth-token: x1y2z3w4v5", "postgres://admin:pa55word@db.invalid/x", "redis://:pass9999@cache.invalid", "token=1234567890abcdef", "secret_key = 'abc123def456'",
]  # fmt: skip
EMAILS = [
    "jane.doe@example.org", "a.b+c@sub.example.co.uk", "x_y-z@example.com", "JOHN@EXAMPLE.COM", "1234@example.net", "info@example.museum",
    "first.last@example-site.org", "me@mail.example.io", "o@example.org", "mail to bob@example.org, please", "(eve@example.org)", "<tom@example.org>",
]  # fmt: skip
PHONES = [
    "+1 555 0100", "+1 555 010 0199", "+44 20 7946 0958", "+49-30-901820", "+33 1 23 45 67 89", "+972 50 123 4567", "+15550100123",
    "+1 (555) 010-0199", "+91 98765 43210", "+81-3-1234-5678", "Call +7 495 123 45 67 now", "tel:+34 912 345 678",
    "+49 30 901", "+49 30 9018 2012 345", "+7 495 123 456",
]  # fmt: skip
CARDS = [
    "4111 1111 1111 1111", "5500-0000-0000-0004", "3782 822463 10005", *(_card("4", 16) for _ in range(5)), *(_card("52", 16) for _ in range(3)), _card("37", 15), _card("6011", 16),
]  # fmt: skip
KEY_BLOCKS = [_key_block(kind) for kind in ("", "RSA ", "EC ", "OPENSSH ", "DSA ")] + [
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhki"
]

ABROAD = [
    "contraseña: Tr0ub4dor&3", "tu contraseña temporal es Ab12cd34", '"contraseña": "letmein"', "contrasen\u0303a=hunter2x", "clave secreta: hunter2x",
    "Passwort: hunter2x", "DB_PASSWORT=geheim12", "Kennwort = s3cr3t!9", "kennwort: 'letmein'", "das neue Passwort lautet hunter2x", "API-Schlüssel: abc123def456",
    "mot de passe : hunter2x", "le mot de passe est hunter2x", "motdepasse=hunter2x", "mot_de_passe: hunter2x", "clé d'API : abc123def456",
    "senha: hunter2x", "a senha é hunter2x", "chave de api: abc123def456", "parola d'ordine: hunter2x", "contrasenya: hunter2x",
    "wachtwoord: hunter2x", "lösenord: hunter2x", "adgangskode: hunter2x", "passord: hunter2x", "salasana: hunter2x", "hasło: hunter2x", "jelszó: hunter2x", "şifre: hunter2x",
    "Пароль=qwerty99", "пароль - hunter2x", "секретный ключ: abc123def456", "κωδικός: hunter2x", "mật khẩu: hunter2x", "kata sandi: hunter2x",
    "密码：hunter2x", "新密码是hunter2x", "密碼: hunter2x", '"密码": "letmein"', "口令 hunter2x", "API密钥：abc123def456",
    "パスワード：hunter2x", "パスワードはhunter2xです", "비밀번호: hunter2x", "비밀번호는 hunter2x", "סיסמה: hunter2x", "كلمة المرور: hunter2x", "รหัสผ่าน: hunter2x", "पासवर्ड: hunter2x",
]  # fmt: skip

PLANTED = [
    *(("api key", text) for text in API_KEYS),
    *(("token", text) for text in TOKENS),
    *(("password", text) for text in PASSWORDS),
    *(("email", text) for text in EMAILS),
    *(("phone", text) for text in PHONES),
    *(("card", text) for text in CARDS),
    *(("private key", text) for text in KEY_BLOCKS),
    # Beside words of a script without blanks, and in letters that ASCII lacks
    ("email", "请联系li@example.com谢谢"),
    ("email", "иван@пример.рф"),
    ("email", "ju\u0308rgen@example.com"),
    ("email", "élodie@example.fr"),
    ("phone", "電話+8613800138000です"),
    ("phone", "电话+86 138 0013 8000。"),
    ("token", "使用Bearer abcDEF1234567890xyz"),
    ("token", "トークンはbearer abcDEF1234567890xyzです"),
    ("token", "请求头Authorization: Bearer abcdef1234567890"),
    ("token", "用户basic dXNlcjpwYXNzd29yZA=="),
    ("password", "口令password is hunter2x2"),
    *(("password", text) for text in ABROAD),
    ("password", "运行--password hunter2x"),
    ("password", "命令-u bob:hunter2x"),
    ("api key", "见hooks.slack.com/services/T00000000/B00000000/abcdefgh"),
]

CLEAN = [
    "La contraseña tiene 4 cifras.", "la contraseña es un número de 4 cifras", "contraseñas posibles: 1000000", "la contraseña del enlace es https://a1.invalid/b2", "Das Passwort hat 4 Ziffern: 0 bis 9.", "Passwort: vier Ziffern", "Wie viele Passwörter gibt es?",
    "Un mot de passe : trois lettres et deux chiffres.", "mot de passe: 4 chiffres", "A senha tem 4 dígitos.", "senha: um número", "senhas: 10000000 possíveis", "a resenha: abc123def", "desenha: abc123def", "Пароль состоит из 4 цифр.", "пароль: 4-значное число",
    "密码是四位数字", "密码：4位数字，不能以0开头", "密码由4个数字组成。", "密码个数=1000000", "パスワードは4桁の数字です", "パスワードの数：1000000通り", "비밀번호는 4자리이다", "la parola: abierta", "clave de 4 cifras: 0 a 9", "clé de sol",
    "1234567890123456", "1111 2222 3333 4444", "3.14159265358979323846", "2^64 = 18446744073709551616", "4 + 5551234567", "3 +15551234567", "x +15551234567",
    "(a) +1 555 0100", "5 @ 3", "a@b", "f@g(x)", "sk-learn", "The secret is to factor.", "The password has 4 digits: 0 to 9 each.", "token: a word", "tokens = 5 + 3",
    "secret: $x = 5$", "password = \\frac{1}{2}", "bearer of news", "4111 1111 1111 1112", "1000 2000 3000 4000", "0000 0000 0000 0000", "12 345 678", "$4,111,111",
    "4000 3000 2000 1000", "4100 4250 5000 5200", "2024 2025 2026 2027", "4001 4009 4017 4025", "3012 3021 3330 3420", "+1 000 000 000", "+1 234 567 890", "+20 000 000", "+12 345 678", "+44 345 678", "+1234567890", "2024-01-15T10:00:00+02:00", "2024-01-15", "api_key=api_key", "self.password=new_password", "db.password=settings.database", "password=value", "the password is 4 digits long", "PASSWORD: a word", "api_key=self.api_key", "password=None", "token=os.environ", "max_tokens: 100000",
    "token_count=123456789", "tokens_per_second=123.456789", "tokenizer=gpt-4o-mini", "db_password: str", "password_min_length=12345678", "The token is a coin: 5 of them", "Pass: 12 of 20", "secret: the number 1234", "docker --user 1000:1000", "use --password to log in",
    "Bearer of good news everyone", "a basic understanding", "Authorization: required", "signature = f(x)", "sign=1234567", "\\sigma = 0.123456", "key = 1234567890", "\\passwordless: 1234567", "3000 4000 5000 6000", "$+1 234 567$", "f(x) = +12 345 678 901", "4, 5 @ 6",
    "4 8 15 16 23 42", "a+1", "2 +3 +4", "+5", "1 +2 345 678 - 9", "eyJ", "AKIA", "e^{i\\pi}+1=0", "AB@CD is an angle", "α+14155550123", "é+14155550123", "×+1", "ключ--password", "тест-u a:bc", "step-by-step-000000000000", "1-800 ways",
    "+49 30 9018 2012 3456", "+1 155 010 0199", "4120 5990 1290 9550", "token: \"5 coins\"",
]  # fmt: skip
