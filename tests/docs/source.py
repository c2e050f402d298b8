"""What the code says of itself, as Markdown: signatures as written, docstrings with their sections as lists."""

import ast
import inspect
import re
import textwrap

SECTION = re.compile(r"(Args|Attributes|Example|Raises|Returns|Yields):$")
ENTRY = re.compile(r"    `?([\w.]+)`?: (.*)")


def entry(name, thing):
    """Return what the reference says of a public function, class, type or constant."""
    thing = inspect.unwrap(thing) if callable(thing) else thing
    if isinstance(thing, str):
        return f"## {name}\n\n`{name} = {thing!r}`\n"
    if not (inspect.isfunction(thing) or inspect.isclass(thing)):
        return f"## {name}\n\n`{' '.join(str(thing).replace('typing.', '').split())}`\n"
    source = textwrap.dedent(inspect.getsource(thing))
    node = ast.parse(source).body[0]
    parts = [f"## {name}", signature(node, source), markdown(ast.get_docstring(node))]
    if isinstance(node, ast.ClassDef):
        parts += [fields(node), *methods(node, source), *_parts(name, thing)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _parts(name, thing):
    """Yield the public methods of the bases that are nothing but parts of a class."""
    for base in thing.__mro__[1:]:
        if (inspect.getdoc(base) or "").startswith(f"Part of `{name}`"):
            source = textwrap.dedent(inspect.getsource(base))
            node = ast.parse(source).body[0]
            node.name = name
            yield from methods(node, source)


def signature(node, source):
    """Return the first lines of a definition in a fence; of a class that says what it takes, `__init__` too."""
    takes = "Args:" in (ast.get_docstring(node) or "")
    heads = [node, *(each for each in node.body if getattr(each, "name", "") == "__init__" and takes)]
    lines = source.splitlines()
    head = "\n".join(line for each in heads for line in [*_kind(each), *lines[each.lineno - 1 : _first(each)]])
    return f"```py\n{textwrap.dedent(head)}\n```"


def _kind(node):
    """Return the decorator of what is not called like a method of an object."""
    names = [ast.unparse(decorator) for decorator in node.decorator_list]
    return [f"{' ' * node.col_offset}@{name}" for name in names if name in ("property", "classmethod", "staticmethod")]


def _first(node):
    """Return how many lines come before the body of a definition."""
    return max(node.body[0].lineno - 1, node.lineno)


def fields(node):
    """Return the annotated fields of a class as a list, each with the text below it."""
    listed = []
    for field, below in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(field, ast.AnnAssign) and not field.target.id.startswith("_"):
            default = f" = {_plain(field.value)}" if field.value else ""
            text = below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else ""
            listed.append(f"- `{field.target.id}: {_plain(field.annotation)}{default}`" + ":" * bool(text))
            listed += [f"  {line.strip()}" for line in text.splitlines()]
    return "\n".join(["**Fields**", "", *listed]) if listed else ""


def _plain(node):
    """Return a type or a default as a reader needs it: without reducers and validators, a made default as `...`."""
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Annotated":
        return _plain(node.slice.elts[0])
    return "..." if isinstance(node, ast.Call) and ast.unparse(node.func) == "Field" else ast.unparse(node)


def methods(node, source):
    """Yield the public methods of a class; those that are async forms of others share one line."""
    twins = []
    for method in node.body:
        if not isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)) or method.name.startswith("_"):
            continue
        docstring = ast.get_docstring(method) or ""
        if docstring.startswith("Async form of"):
            twins.append(f"`{method.name}`")
        else:
            yield f"### {node.name}.{method.name}\n\n{signature(method, source)}\n\n{markdown(docstring)}"
    if twins:
        yield f"Async forms, with the same arguments: {', '.join(twins)}."


def alias(source, name):
    """Return the definition of a name in a module's source, and the text below it on one line."""
    body = ast.parse(source).body
    for node, below in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return ast.get_source_segment(source, node), " ".join(below.value.value.split())
    raise LookupError(name)


def markdown(docstring):
    """Return a docstring in Google's style as Markdown."""
    lines, section = [], ""
    for line in (docstring or "").splitlines():
        if found := SECTION.fullmatch(line):
            section = found[1]
            lines += [f"**{section}**", ""]
            continue
        if line[:1].strip():
            section = ""
        if section in ("", "Example", "Returns", "Yields"):
            lines.append(line[4:] if section else line)
        elif item := ENTRY.fullmatch(line):
            lines.append(f"- `{item[1]}`: {item[2]}")
        else:
            lines.append(line[6:])
    return "\n".join(lines).strip()
