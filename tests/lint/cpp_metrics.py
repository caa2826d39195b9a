"""Counts what the style budget speaks of: lines, functions, parameters, macros and includes of a C++ or CUDA file.

Text is lexed by regular expressions and functions are found by brace matching: good enough for formatted code of one style.
"""
import os
import re
import statistics

HEADERS = {".h", ".cuh"}
EXTENSIONS = {".h", ".cpp", ".cu", ".cuh"}

LEX = re.compile(r"""//[^\n]*(?:\\\n[^\n]*)*      | /\*.*?(?:\*/|\Z)
                   | R"([^()\\\s]{0,16})\(.*?\)\1" | "(?:\\.|[^"\\\n])*" | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*'""", re.S | re.X)


def split_text(text):
    """-> (code, comments): same line structure; comments blanked and strings emptied in code, the reverse in comments."""
    code, comments, at = [], [], 0
    for m in LEX.finditer(text):
        between, token = text[at:m.start()], m.group()
        newlines = "\n" * token.count("\n")
        code.append(between)
        comments.append("\n" * between.count("\n"))
        if token.startswith(("//", "/*")):
            code.append(newlines or " ")
            comments.append(token)
        else:
            code.append('""' + newlines)
            comments.append(newlines)
        at = m.end()
    code.append(text[at:])
    comments.append("\n" * text[at:].count("\n"))
    return "".join(code), "".join(comments)


def blank_preprocessor(code):
    return re.sub(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", lambda m: "\n" * m.group().count("\n"), code, flags=re.M)


def flatten(header):
    """Drop template parameter lists and everything inside parentheses; keep '()' marks."""
    header = re.sub(r"\[\[.*?\]\]|__attribute__\s*\(\(.*?\)\)|alignas\s*\(.*?\)|__launch_bounds__\s*\(.*?\)", " ", header)
    out, depth = [], 0
    for ch in header:
        if ch == "(":
            if depth == 0:
                out.append("(")
            depth += 1
        elif ch == ")":
            depth = max(0, depth - 1)
            if depth == 0:
                out.append(")")
        elif depth == 0:
            out.append(ch)
    flat = "".join(out)
    while True:
        m = re.match(r"\s*(template|requires)\s*<", flat)
        if not m:
            return flat.strip()
        i, level = m.end(), 1
        while i < len(flat) and level:
            level += {"<": 1, ">": -1}.get(flat[i], 0)
            i += 1
        flat = flat[i:]


def parameters(header):
    """Number of parameters: top-level commas of the first parenthesis group that follows the function's name."""
    text = re.sub(r"__launch_bounds__\s*\([^)]*\)", "", header)
    m = re.search(r"(operator\s*\(\s*\)|operator[^\s(]+|[\w~>]+)\s*\(", text)
    if not m:
        return 0
    depth, angle, count, seen = 1, 0, 1, False
    for ch in text[m.end():]:
        if ch in "([{":
            depth += 1
        elif ch in ")]}":
            depth -= 1
            if depth == 0:
                break
        elif ch == "<":
            angle += 1
        elif ch == ">":
            angle = max(0, angle - 1)
        elif ch == "," and depth == 1 and angle == 0:
            count += 1
        seen = seen or not ch.isspace()
    return count if seen else 0


def functions(code):
    """[(first line of body, lines of body, parameters, name)] of function definitions; lambdas and locals are not counted."""
    text = blank_preprocessor(code)
    found, stack, start, line, init_braces, in_function = [], [], 0, 1, 0, 0
    for m in re.finditer(r"[{};\n]", text):
        ch = m.group()
        if ch == "\n":
            line += 1
        elif ch == ";":
            if not in_function and not init_braces:
                start = m.end()
        elif ch == "{":
            if in_function or init_braces:
                stack.append(("block", line, 0, ""))
                init_braces += 1 if init_braces else 0
                continue
            header = text[start:m.start()]
            flat = flatten(header)
            body = re.sub(r"::", "", flat)
            init_list = re.search(r"\)[^:?]*:(?!:)", body) is not None
            member = init_list and re.search(r"[\w>]\s*$", flat) and not re.search(r"\b(try|noexcept|const)\s*$", flat)
            if member or header.count("(") > header.count(")"):      # a_{1} in an initialiser list, or a default argument
                stack.append(("init", line, 0, ""))
                init_braces = 1
                continue
            is_scope = re.search(r"\b(namespace|class|struct|union|enum|concept)\b", flat) and not re.search(r"\)\s*(const)?$", flat)
            if is_scope or re.match(r'extern\s*""$', flat):
                stack.append(("scope", line, 0, ""))
            elif "(" in flat and ("operator" in flat or "=" not in flat.split("(")[0]):
                name = re.search(r"(operator\s*\S+?|[\w~]+)\s*\(", flat)
                stack.append(("function", line, parameters(header), name.group(1) if name else "?"))
                in_function = 1
            else:
                stack.append(("scope", line, 0, ""))
            start = m.end()
        else:
            if not stack:
                start = m.end()
                continue
            what, first, count, name = stack.pop()
            if what == "function":
                found.append((first, line - first + 1, count, name))
                in_function = 0
            if what == "init" or (init_braces and what == "block"):
                init_braces = max(0, init_braces - 1)
                continue
            if not in_function:
                start = m.end()
    return found


def unbraced(code):
    """Lines of `if`, `for`, `while` and `else` whose body has no braces."""
    lines, text = [], blank_preprocessor(code)
    for m in re.finditer(r"^[ \t]*(?:\} )?(?:else )?(?:for|while|if)(?: constexpr)? \(|\belse$", text, re.M):
        end, depth = m.end(), int(m.group().endswith("("))
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        if not re.match(r"\s*(?:\[\[\w+\]\] *)?[{;]", text[end:]):
            lines.append(text.count("\n", 0, m.end()) + 1)
    return lines


def without_braces(body):
    """The text of a class body outside inner braces, each of which ends the declaration in front of it unless it initialises a member."""
    out, depth = [], 0
    for i, ch in enumerate(body):
        if ch == "{":
            depth += 1
        elif ch == "}":
            depth -= 1
            if depth == 0:
                out.append("" if re.match(r"\s*[;,]", body[i + 1:]) else ";")
        elif depth == 0:
            out.append(ch)
    return "".join(out)


def structs(code):
    """[(line, fields, name)] of structs and classes; fields are its own data members that are not static."""
    found, text = [], blank_preprocessor(code)
    for m in re.finditer(r"\b(?:struct|class)\s+(?:alignas\s*\([^)]*\)\s*)?([\w:]+)[^;{}()=]*\{", text):
        if re.search(r"(\benum\s*|[<,]\s*)$", text[:m.start()]):     # an enum class, or a parameter of a template
            continue
        end, depth = m.end(), 1
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        fields = 0
        for statement in without_braces(text[m.end():end - 1]).split(";"):
            words = re.sub(r"\b(?:public|private|protected)\s*:", "", statement).strip()
            while re.search(r"<[^<>]*>", words):
                words = re.sub(r"<[^<>]*>", " ", words)
            words = re.sub(r"alignas\s*\([^)]*\)|\[\[.*?\]\]", "", words).strip()
            declared = words.split("=")[0]
            if not words or "(" in declared or re.match(r"(using|static|friend|typedef|enum|struct|class|union|template|constexpr|return)\b", words):
                continue
            if re.match(r"[\w:]+(\s*[*&])*\s+[\w*&]", declared):
                fields += 1 + len(re.findall(r",\s*[*&]*\w+\s*(?=[=,;\[]|$)", re.sub(r"\([^()]*\)", "", words)))
        found.append((text.count("\n", 0, m.start()) + 1, fields, m.group(1)))
    return found


NAMED = re.compile(r"(?:(?:struct|class|union|enum class|enum)\s+(?=\w+\s*[{:])|using\s+(?=\w+\s*=))(\w+)"
                   r"|(?:inline |static |thread_local )*constexpr\b[^={(]*?\b(\w+)(?:\[\w*\])*\s*(?:=|\{)")
CALLED = re.compile(r"(?!using\b|template\b|return\b)[\w:<>,&*\[\] ]*?[ *&](\w+)\(([^;]*)")


def unnamed(code):
    """[(line, name, text)] of what unnamed namespaces hold; a function's name has the types of its first line's parameters."""
    found, spaces, depth = [], [], 0
    for line, row in enumerate(blank_preprocessor(code).split("\n"), 1):
        space = re.match(r"(?:inline )?namespace\s*([\w:]*)\s*\{", row)
        if space and depth == len(spaces):
            spaces.append(space.group(1))
        elif depth == len(spaces) and "" in spaces:
            named, called = NAMED.match(row), CALLED.match(row)
            name = (named.group(1) or named.group(2)) if named else called and re.sub(r"\s*\w+(?=[,)])|\{.*", "", "(".join(called.groups()))
            if name:
                found.append((line, "::".join([*filter(None, spaces), name.strip()]), row.strip()))
        depth += row.count("{") - row.count("}")
        del spaces[max(depth, 0):]
    return found


class Source:
    """One file: `path` below the root, its text and its figures."""

    def __init__(self, root, path):
        self.path, self.ext = path, os.path.splitext(path)[1]
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as f:
            self.text = f.read()
        code, comments = split_text(self.text)
        self.rows = self.text.split("\n")
        self.lines = len(self.rows) - (0 if self.rows[-1] else 1)
        self.code = sum(1 for row in code.split("\n") if row.strip())
        self.comments = comments
        self.commented = sum(1 for row in comments.split("\n") if row.strip())      # lines that hold a comment, alone or behind code
        self.includes = [(self.text.count("\n", 0, m.start(2)) + 1, m.group(1), m.group(2)) for m in
                         re.finditer(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', self.text, re.M)]
        self.defines = [(code.count("\n", 0, m.start(1)) + 1, m.group(1))
                        for m in re.finditer(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", code, re.M)]
        self.conditionals = [code.count("\n", 0, m.start(1)) + 1
                             for m in re.finditer(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif)\b", code, re.M)]
        self.unbraced = unbraced(code)
        self.todos = [comments.count("\n", 0, m.start()) + 1 for m in re.finditer(r"\b(TODO|FIXME|XXX|HACK)\b", comments)]
        self.functions = [f for f in functions(code) if not re.fullmatch(r"[A-Z_0-9]+", f[3])]
        self.structs = structs(code)
        self.unnamed = unnamed(code)
        self.stem = re.sub(r"_test$", "", os.path.splitext(os.path.basename(path))[0])

    def top_comment(self):
        """Comment text above the first declaration that opens braces (besides namespaces)."""
        for number, row in enumerate(self.rows):
            if re.match(r"(template|struct|class|enum|inline|void|constexpr|static|[A-Z]\w+ \w+\()", row):
                return "\n".join(self.comments.split("\n")[:number])
        return self.comments


def quantile(values, q):
    values = sorted(values)
    return values[min(len(values) - 1, int(q * len(values)))] if values else 0


def median(values):
    return statistics.median(values) if values else 0
