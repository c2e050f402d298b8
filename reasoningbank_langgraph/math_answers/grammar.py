r"""Tokens -> expression, by a closed grammar.

    sum      := [+|-] product ((+|-) product)*
    product  := power ((* | / | nothing) power)*         "nothing" is never followed by a number: `2 3` is unreadable
    power    := atom [!] [^ exponent] [degrees]
    atom     := number | mixed number | symbol | constant | ( sum ) | | sum | | \frac a b | \sqrt[n] a | function atom

Division and multiplication bind alike and from the left, so `1/2x` is half of x.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from reasoningbank_langgraph.math_answers import nodes
from reasoningbank_langgraph.math_answers.lexer import Token, proper_fraction
from reasoningbank_langgraph.math_answers.nodes import Node, UnreadableError

MAX_DEPTH = 24

_FUNCTIONS = {"sin", "cos", "tan", "sec", "csc", "cot", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "ln",
              "exp"}  # fmt: skip
_INVERSES = {"sin": "arcsin", "cos": "arccos", "tan": "arctan"}
_GREEK = {"alpha", "beta", "gamma", "delta", "epsilon", "theta", "lambda", "mu", "nu", "rho", "sigma", "tau", "phi",
          "varphi", "omega", "ell", "Delta", "Omega"}  # fmt: skip
_CONSTANTS = {"e": "e", "i": "i", "pi": "pi", "infty": "oo", "infinity": "oo", "inf": "oo"}
_NAMES = _FUNCTIONS | {"sqrt", "log", "pi", "infinity", "binom", "frac", "floor", "ceil", "abs"}
_LONGEST_PRODUCT = 3
"""Longer runs of letters are words, not products of variables."""
_END = Token("end", "", gap=False)


def parse(tokens: list[Token]) -> Node:
    """Read tokens as one expression.

    Raises:
        UnreadableError: They are not one, or it is nested too deeply.
    """
    parser = _Parser(tokens)
    node = parser.sum()
    if parser.peek() is not _END:
        raise UnreadableError
    return node


class _Parser:
    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = list(tokens)
        self._position = 0
        self._depth = 0

    def peek(self) -> Token:
        return self._tokens[self._position] if self._position < len(self._tokens) else _END

    def _take(self) -> Token:
        token = self.peek()
        self._position += 1
        return token

    def _accept(self, text: str) -> bool:
        token = self.peek()
        if token.kind not in ("mark", "macro") or token.text != text:
            return False
        self._position += 1
        return True

    def _expect(self, text: str) -> None:
        if not self._accept(text):
            raise UnreadableError

    def sum(self) -> Node:
        terms = [self._signed_product()]
        while self.peek().kind == "mark" and self.peek().text in "+-":
            terms.append(self._signed_product())
        return terms[0] if len(terms) == 1 else nodes.apply("add", *terms)

    def _signed_product(self) -> Node:
        minus = False
        while self.peek().kind == "mark" and self.peek().text in "+-":
            minus ^= self._take().text == "-"
        node = self._product()
        return nodes.negative(node) if minus else node

    def _product(self) -> Node:
        factors = [self._power()]
        while True:
            if self._accept("*"):
                factors.append(self._signed_power())
            elif self._accept("/"):
                factors = [nodes.apply("div", _times(factors), self._signed_power())]
            elif self._starts_factor():
                factors.append(self._power())
            else:
                return _times(factors)

    def _signed_power(self) -> Node:
        return nodes.negative(self._power()) if self._accept("-") else self._power()

    def _starts_factor(self) -> bool:
        token = self.peek()
        if token.kind == "letters":
            return True
        if token.kind == "macro":
            return token.text[1:] in _NAMES | _GREEK | set(_CONSTANTS) | {"lfloor", "lceil"}
        return token.kind == "mark" and token.text in "({["

    def _power(self) -> Node:
        node = self._atom()
        if self._accept("!"):
            node = nodes.apply("factorial", node)
        if not self._accept("^"):
            return node
        if self._accept(r"\circ"):
            return nodes.apply("mul", node, nodes.apply("div", nodes.constant("pi"), nodes.number(180)))
        return nodes.apply("pow", node, self._exponent())

    def _exponent(self) -> Node:
        with self._deeper():
            if self._accept("-"):
                return nodes.negative(self._exponent())
            number = self.peek().kind == "number"
            base = nodes.decimal(self._take().text) if number else self._atom()
            return nodes.apply("pow", base, self._exponent()) if self._accept("^") else base

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise UnreadableError
        yield
        self._depth -= 1

    def _group(self) -> Node:
        self._expect("{")
        node = self.sum()
        self._expect("}")
        return node

    def _atom(self) -> Node:
        token = self._take()
        reader = {"number": self._number, "letters": self._letters, "macro": self._named, "mark": self._bracket}
        if token.kind not in reader:
            raise UnreadableError
        with self._deeper():
            return reader[token.kind](token.text)

    def _bracket(self, opening: str) -> Node:
        closing = {"(": ")", "[": "]", "{": "}", "|": "|"}.get(opening)
        if closing is None:
            raise UnreadableError
        node = self.sum()
        self._expect(closing)
        return nodes.apply("abs", node) if opening == "|" else node

    def _number(self, text: str) -> Node:
        node = nodes.decimal(text)
        fraction = proper_fraction(self._tokens, self._position) if text.isdigit() else None
        if fraction is None:
            return node
        self._position = fraction.end
        return nodes.number(node.number + fraction.value)

    def _letters(self, text: str) -> Node:
        if text.lower() in _NAMES or text in _CONSTANTS:
            return self._named(text.lower() if text.lower() in _NAMES else text)
        if len(text) > _LONGEST_PRODUCT:
            raise UnreadableError
        if len(text) > 1:
            self._position -= 1
            self._tokens[self._position] = Token("letters", text[1:], gap=False)
        return self._named(text[0]) if text[0] in _CONSTANTS else self._subscripted(text[0])

    def _subscripted(self, name: str) -> Node:
        if not self._accept("_"):
            return nodes.symbol(name)
        braced = self._accept("{")
        index = self._take()
        if index.kind not in ("number", "letters"):
            raise UnreadableError
        if braced:
            self._expect("}")
        return nodes.symbol(f"{name}_{index.text}")

    def _named(self, name: str) -> Node:
        name = name.removeprefix("\\")
        if name in _CONSTANTS:
            return nodes.constant(_CONSTANTS[name])
        if name in _GREEK:
            return self._subscripted(name)
        if name in _FUNCTIONS:
            return self._function(name)
        return self._special(name)

    def _special(self, name: str) -> Node:
        readers: dict[str, Callable[[], Node]] = {
            "frac": self._fraction,
            "sqrt": self._root,
            "log": self._log,
            "binom": self._binomial,
            "lfloor": lambda: self._rounded("floor", r"\rfloor"),
            "lceil": lambda: self._rounded("ceil", r"\rceil"),
            "floor": lambda: self._called("floor"),
            "ceil": lambda: self._called("ceil"),
            "abs": lambda: self._called("abs"),
        }
        if name not in readers:
            raise UnreadableError
        return readers[name]()

    def _argument(self) -> Node:
        r"""Take a LaTeX argument: a group, or a single digit, letter or macro (`\frac12`)."""
        token = self.peek()
        if token.text == "{":
            return self._group()
        if token.kind == "number" and token.text.isdigit():
            if len(token.text) == 1:
                self._position += 1
            else:
                self._tokens[self._position] = Token("number", token.text[1:], gap=False)
            return nodes.number(int(token.text[0]))
        return self._atom()

    def _fraction(self) -> Node:
        above = self._argument()
        below = self._argument()
        if self.peek().kind == "number":
            raise UnreadableError
        return nodes.apply("div", above, below)

    def _root(self) -> Node:
        degree = nodes.number(2)
        if self._accept("["):
            degree = self.sum()
            self._expect("]")
        radicand = self._atom() if self.peek().text == "(" else self._argument()
        if self.peek().kind == "number":
            raise UnreadableError
        return nodes.apply("root", radicand, degree)

    def _binomial(self) -> Node:
        return nodes.apply("binomial", self._argument(), self._argument())

    def _rounded(self, op: str, closing: str) -> Node:
        node = nodes.apply(op, self.sum())
        self._expect(closing)
        return node

    def _called(self, op: str) -> Node:
        self._expect("(")
        return self._rounded(op, ")")

    def _log(self) -> Node:
        base = nodes.number(10)
        if self._accept("_"):
            base = self._argument()
        return nodes.apply("log", self._operand(), base)

    def _function(self, name: str) -> Node:
        exponent = self._exponent() if self._accept("^") else None
        if exponent is not None and exponent == nodes.number(-1) and name in _INVERSES:
            return nodes.apply(_INVERSES[name], self._operand())
        node = nodes.apply(name, self._operand())
        return node if exponent is None else nodes.apply("pow", node, exponent)

    def _operand(self) -> Node:
        r"""Take what a function is applied to: brackets, or the factors up to the next sign (`\sin 3x`)."""
        if self.peek().text in ("(", "[", "{"):
            return self._atom()
        factors = [self._power()]
        while self._starts_factor() and not self._is_function(self.peek()) and self.peek().text != "(":
            factors.append(self._power())
        return _times(factors)

    def _is_function(self, token: Token) -> bool:
        return token.text.removeprefix("\\") in _FUNCTIONS | {"log"}


def _times(factors: list[Node]) -> Node:
    return factors[0] if len(factors) == 1 else nodes.apply("mul", *factors)
