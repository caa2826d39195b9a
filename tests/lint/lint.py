#!/usr/bin/env python3
"""Holds the rules of docs/architecture.md; needs no compiler. Exit code 0: clean, 1: findings, 2: cannot run.

usage: lint.py [--root DIR] [--no-format]

  layers    every #include "..." is one that the row of its folder in CMakeLists.txt (mpitron_layer) allows; a subfolder
            includes none that the row names later (SUBFOLDERS); no folder cycle
  foreign   a heavy foreign header only in the .cpp/.cu files of a layer whose row names its library as FOREIGN
  format    clang-format 14 has nothing to change; no line over 100 columns; braces around the body of every if and loop
  budget    limits of the style budget, printed with medians and 90 % quantiles; at most 30 sources in a folder, 20 fields in a
            struct; comments on a tenth of the lines
  names     names in unnamed namespaces are unique within a library, whose sources are compiled several at a time
  contract  each header of kernels, and of ops (functions that return a Var), states its numerical contract at the top
  docs      the tables of docs/architecture.md say the same as CMakeLists.txt; sources and pages that pages name exist,
            and so do the folders on the ways through the code; at most 40 terms in the glossary;
            no line of a page over 140 columns but rows of tables
  shell     shellcheck has nothing to say about a shell script or sbatch file
  golden    tests/golden is at most 12 MB, so that a clone stays light

Exceptions with reasons: tests/lint/exceptions.txt.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import os
import re
import shutil
import subprocess
import sys

from cpp_metrics import EXTENSIONS, HEADERS, Source, median, quantile

ROOTS = ("utils", "io", "kernels", "src", "tests", "benchmarks", "emulator")
SHELL_ROOTS = ("jobs", "tests", "benchmarks", "cmake", ".ci")
GENERATED = {"build_info.h", "devices.h", "device_under_test.h", "intrinsics.cuh", "warpgroup.cuh", "wgmma.cuh"}  # or chosen by the include path
ALLOWED_MACROS = {"MPITRON_CHECK", "MPITRON_DCHECK"}
FILE_LIMIT, CUDA_FILE_LIMIT, FUNCTION_LIMIT, PARAMETER_LIMIT, FIELD_LIMIT, COLUMN_LIMIT = 600, 800, 90, 6, 20, 100
FOLDER_LIMIT, PAGE_COLUMN_LIMIT, SHORT_FILE, SMALL_TREE, TERM_LIMIT = 30, 140, 40, 50, 40
GOLDEN_LIMIT = 12_000_000
BUDGET = {"file lines": (120, 350), "function lines": (8, 35), "parameters": (None, 4)}
MIRROR_MINIMUM, TEST_RATIO_MINIMUM, COMMENT_MINIMUM = 0.8, 0.5, 0.1  # recorded runs, which are data, test much of the rest
# Heavy foreign headers (nlohmann/json_fwd.hpp only declares), and the CMake target that a layer's row must name to use them.
FOREIGN = {
    r"CLI/": "CLI11::CLI11", r"nlohmann/(?!json_fwd)": "nlohmann_json::nlohmann_json", r"simdjson\.h": "simdjson", r"yaml-cpp/": "yaml-cpp",
    r"pcre2": "pcre2", r"spdlog/": "spdlog::spdlog", r"Kokkos_|KokkosExp_": "Kokkos::kokkos", r"dnnl|oneapi/dnnl": "dnnl",
    r"mpi\.h|mpi-ext\.h": "MPI::MPI_CXX", r"hdf5|H5": "hdf5::hdf5", r"cuda_|cuda\.h|cublas": "cuda", r"cudnn": "cudnn", r"nccl": "nccl",
    r"zlib\.h": "zlib", r"zstd\.h": "zstd", r"hwloc": "hwloc", r"boost/": "boost",
    r"jpeglib\.h|jerror\.h": "jpeg", r"png\.h": "png", r"webp/": "webp",
}
CONTRACT = re.compile(r"contract|accumulat|rounded|order of|bitwise", re.I)


class Layer:
    def __init__(self, name, fields):
        self.name, self.depends, self.foreign = name, set(fields["DEPENDS"]), set(fields["FOREIGN"])
        self.subfolders = fields["SUBFOLDERS"]


def read_layers(root):
    """The rows mpitron_layer(NAME DEPENDS ... FOREIGN ... SUBFOLDERS ...) of CMakeLists.txt: the one layer table."""
    with open(os.path.join(root, "CMakeLists.txt"), encoding="utf-8") as f:
        text = re.sub(r"#[^\n]*", "", f.read())
    layers = {}
    for row in re.findall(r"\bmpitron_layer\(([^)]*)\)", text):
        fields, key = {"NAME": [], "DEPENDS": [], "FOREIGN": [], "SUBFOLDERS": []}, "NAME"
        for word in row.split():
            if word in fields:
                key = word
            else:
                fields[key].append(word)
        layers[fields["NAME"][0]] = Layer(fields["NAME"][0], fields)
    return layers


def layer_of(path):
    parts = path.split("/")
    return parts[1] if parts[0] == "src" and len(parts) > 2 else parts[0]


def subfolder_of(path):
    """The folder right below a layer's: `groups` of src/comm/groups/world.h; nothing for a file of the layer's folder itself."""
    parts = path.split("/")[2 if path.startswith("src/") else 1:]
    return parts[0] if len(parts) > 1 else ""


def is_source(path):
    return not path.startswith(("tests/", "benchmarks/", "emulator/"))


def find_sources(root):
    for top in ROOTS:
        for folder, subfolders, names in os.walk(os.path.join(root, top)):
            subfolders.sort()
            for name in sorted(names):
                if os.path.splitext(name)[1] in EXTENSIONS:
                    yield Source(root, os.path.relpath(os.path.join(folder, name), root))


def find_scripts(root):
    for top in SHELL_ROOTS:
        for folder, subfolders, names in os.walk(os.path.join(root, top)):
            subfolders.sort()
            for name in sorted(names):
                if name.endswith((".sh", ".sbatch")) or (top == ".ci" and name == "run"):
                    yield os.path.relpath(os.path.join(folder, name), root)


class Lint:
    def __init__(self, root):
        self.root, self.findings, self.used = root, [], set()
        self.layers = read_layers(root)
        self.sources = list(find_sources(root))
        self.by_path = {s.path: s for s in self.sources}
        self.exceptions = self.read_exceptions()

    def read_exceptions(self):
        """Lines `rule path reason...` -> {(rule, path)}; a line without a reason is a finding."""
        path, found = os.path.join(self.root, "tests/lint/exceptions.txt"), set()
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                for row in f:
                    words = row.split("#")[0].split()
                    if len(words) in (1, 2):
                        self.findings.append(f"tests/lint/exceptions.txt: no reason given: {row.strip()}")
                    elif words:
                        found.add((words[0], words[1]))
        return found

    def report(self, rule, path, line, message):
        if (rule, path) in self.exceptions:
            self.used.add((rule, path))
            return
        self.findings.append(f"{path}:{line}: [{rule}] {message}")

    def resolve(self, source, include):
        """Path of our own header that `include` means, from the repository root, src or tests; None if there is none."""
        for prefix in ("", "src/", "tests/", "benchmarks/"):
            if prefix + include in self.by_path:
                return prefix + include
        return None

    # --- layers -----------------------------------------------------------------------------------------------------------------
    def check_layers(self):
        edges = {}
        for source in self.sources:
            for line, kind, include in source.includes:
                if kind == "<" or include in GENERATED:
                    continue
                target = self.resolve(source, include)
                if target is None:
                    self.report("layers", source.path, line, f'"{include}" is no file below the repository root or src')
                elif is_source(source.path):
                    self.check_include(source, line, target)
                    edges.setdefault(os.path.dirname(source.path), {}).setdefault(os.path.dirname(target), (source.path, target))
        self.check_cycles(edges)

    def check_include(self, source, line, target):
        here, there = layer_of(source.path), layer_of(target)
        if not is_source(target):
            self.report("layers", source.path, line, f"a source may not include {target}")
        elif here not in self.layers:
            self.report("layers", source.path, 1, f"folder {here} has no mpitron_layer row in CMakeLists.txt")
        elif here != there and there not in self.layers[here].depends:
            allowed = ", ".join(sorted(self.layers[here].depends)) or "nothing of ours"
            self.report("layers", source.path, line, f"{here} may not include {there} (allowed: {allowed})")
        elif here == there:
            self.check_order(source, line, target, self.layers[here].subfolders)

    def check_order(self, source, line, target, subfolders):
        lower, upper = (subfolder_of(path) for path in (target, source.path))
        if lower in subfolders and upper in subfolders and subfolders.index(lower) > subfolders.index(upper):
            self.report("layers", source.path, line, f"{upper} may not include {lower}, which SUBFOLDERS names later")

    def check_cycles(self, edges):
        state, stack = {}, []

        def visit(folder):
            state[folder] = "open"
            stack.append(folder)
            for target in sorted(edges.get(folder, {})):
                if target != folder and state.get(target) == "open":
                    self.report_cycle(edges, stack[stack.index(target):] + [target])
                elif target != folder and target not in state:
                    visit(target)
            stack.pop()
            state[folder] = "done"

        for folder in sorted(edges):
            if folder not in state:
                visit(folder)

    def report_cycle(self, edges, chain):
        steps = [f"{edges[a][b][0]} includes {edges[a][b][1]}" for a, b in zip(chain, chain[1:])]
        self.report("layers", edges[chain[0]][chain[1]][0], 1, f"folder cycle {' -> '.join(chain)}: {'; '.join(steps)}")

    # --- foreign headers --------------------------------------------------------------------------------------------------------
    def check_foreign(self):
        for source in self.sources:
            if not is_source(source.path):
                continue
            for line, kind, include in source.includes:
                for pattern, library in FOREIGN.items():
                    if kind == "<" and re.match(pattern, include):
                        self.check_foreign_include(source, line, include, library)

    def check_foreign_include(self, source, line, include, library):
        layer = layer_of(source.path)
        foreign = self.layers[layer].foreign if layer in self.layers else set()
        in_cuda = library in ("cuda", "cudnn", "nccl") and "/cuda/" in source.path
        if source.ext in HEADERS and not in_cuda:
            self.report("foreign", source.path, line, f"<{include}> in a header: keep it in one adapter .cpp")
        if library not in foreign and not in_cuda:
            self.report("foreign", source.path, line, f"<{include}>: the row of layer {layer} does not name {library} as FOREIGN")

    # --- style budget -----------------------------------------------------------------------------------------------------------
    def check_budget(self):
        for s in self.sources:
            for line in s.todos:
                self.report("todo", s.path, line, "open work belongs into an issue, not into a comment")
            for line, row in enumerate(s.rows, 1):
                if len(row) > COLUMN_LIMIT and not re.search(r"https?://|NOLINT|R\"", row):
                    self.report("columns", s.path, line, f"{len(row)} columns, at most {COLUMN_LIMIT}")
            for line in s.unbraced:
                self.report("braces", s.path, line, "the body of an if, else or loop has braces, also where it is one line")
            for line, name in s.defines:
                if name not in ALLOWED_MACROS:
                    self.report("macro", s.path, line, f"macro {name}: only {', '.join(sorted(ALLOWED_MACROS))} are allowed")
            if is_source(s.path):
                self.check_size(s)

    def check_size(self, s):
        limit = CUDA_FILE_LIMIT if s.ext in (".cu", ".cuh") else FILE_LIMIT
        if s.lines > limit:
            self.report("file-length", s.path, 1, f"{s.lines} lines, at most {limit}")
        for line in s.conditionals:
            self.report("conditional", s.path, line, "#if belongs into adapters (list it in tests/lint/exceptions.txt) or generated files")
        for line, length, count, name in s.functions:
            if length > FUNCTION_LIMIT:
                self.report("function-length", s.path, line, f"{name} has {length} lines, at most {FUNCTION_LIMIT}")
            if count > PARAMETER_LIMIT:
                self.report("parameters", s.path, line, f"{name} has {count} parameters, at most {PARAMETER_LIMIT}")
        for line, fields, name in s.structs:
            if fields > FIELD_LIMIT:
                self.report("fields", s.path, line, f"{name} has {fields} fields, at most {FIELD_LIMIT}: give its parts structs of their own")

    def check_tests(self):
        sources = [s for s in self.sources if is_source(s.path)]
        tests = [s for s in self.sources if s.path.startswith("tests/")]
        stems = {s.stem for s in sources if s.functions and s.stem != "main"}  # plain data has nothing to test
        tested = stems & {name for t in tests for name in (t.stem, re.sub(r"^reference_", "", t.stem))}
        mirror = len(tested) / max(len(stems), 1)
        test_code = sum(s.code for s in self.sources if s.path.startswith(("tests/", "emulator/")))  # it runs for tests alone
        test_code += sum(self.code_of_script(path) for path in self.find_test_scripts())
        ratio = test_code / max(sum(s.code for s in sources), 1)
        print(f"lint: {len(sources)} sources, {sum(s.code for s in sources)} code lines; "
              f"{mirror:.0%} of the names have a test (>= {MIRROR_MINIMUM:.0%}); test/source {ratio:.2f} (>= {TEST_RATIO_MINIMUM})")
        if mirror < MIRROR_MINIMUM:
            self.report("mirror", "tests", 0, f"only {mirror:.0%} of the sources have a test of the same name; without: "
                        + " ".join(sorted(stems - tested)))
        if ratio < TEST_RATIO_MINIMUM:
            self.report("ratio", "tests", 0, f"test/source is {ratio:.2f}, at least {TEST_RATIO_MINIMUM}")
        comments = sum(s.commented for s in sources) / max(sum(s.code for s in sources), 1)
        print(f"lint: comments/code {comments:.3f} (>= {COMMENT_MINIMUM}), by lines that hold them")
        if comments < COMMENT_MINIMUM and len(sources) > SMALL_TREE:
            self.report("comments", "src", 0, f"comments/code is {comments:.3f}, at least {COMMENT_MINIMUM}: say what code cannot")
        self.print_budget(sources)
        self.check_folders(sources)

    def find_test_scripts(self):
        """Tests that are scripts: jobs on a Slurm, clients of the server, the kit for a GPU; not the lint."""
        for folder, _, names in os.walk(os.path.join(self.root, "tests")):
            yield from (os.path.join(folder, name) for name in names if name.endswith((".sh", ".py")) and not folder.endswith("lint"))

    @staticmethod
    def code_of_script(path):
        with open(path, encoding="utf-8") as f:
            return sum(bool(row.strip()) and not row.lstrip().startswith("#") for row in f)

    def check_folders(self, sources):
        counts = collections.Counter(os.path.dirname(s.path) for s in self.sources)
        for folder, count in sorted(counts.items()):
            if count > FOLDER_LIMIT:
                self.report("folder", folder, 0, f"{count} sources in a folder, at most {FOLDER_LIMIT}: give its topics folders")
        short = sum(s.lines < SHORT_FILE for s in sources)
        print(f"lint: {short} of {len(sources)} sources ({short / max(len(sources), 1):.0%}) have fewer than {SHORT_FILE} lines")

    @staticmethod
    def print_budget(sources):
        functions = [f for s in sources for f in s.functions]
        figures = {"file lines": [s.lines for s in sources], "function lines": [f[1] for f in functions if f[1] >= 3],
                   "parameters": [f[2] for f in functions]}
        for name, values in figures.items():
            middle, high = median(values), quantile(values, 0.9)
            goals = BUDGET[name]
            over = (goals[0] is not None and middle > goals[0]) or high > goals[1]
            print(f"lint: {name:14} median {middle:g}, p90 {high}, max {max(values, default=0)}"
                  f"  (budget: {'-' if goals[0] is None else goals[0]}/{goals[1]}){'  OVER BUDGET' if over else ''}")

    def check_names(self):
        """Sources that are compiled alone aside: those of host kernels and of devices."""
        first = {}
        for s in self.sources:
            if not is_source(s.path) or s.ext != ".cpp" or re.search(r"^kernels/host/|/cuda/|/without/", s.path):
                continue
            for line, name, text in s.unnamed:
                path, there = first.setdefault((layer_of(s.path), name), (s.path, text))
                if path != s.path and not (text.startswith("using ") and text == there):
                    self.report("names", s.path, line, f"{name} is also in the unnamed namespace of {path}: share it, or call one otherwise")

    # --- contracts and docs -----------------------------------------------------------------------------------------------------
    def check_contracts(self):
        for s in self.sources:
            is_kernel = re.fullmatch(r"kernels/(?:(?!reference|host|cuda)\w+/)?\w+\.h", s.path) and re.search(r"^void run\(", s.text, re.M)
            is_op = re.fullmatch(r"src/ops/(?:\w+/)?\w+\.h", s.path) and re.search(r"^Var \w+\(", s.text, re.M)
            if (is_kernel or is_op) and not CONTRACT.search(s.comments):
                self.report("contract", s.path, 1, "no numerical contract: accumulation type, order, rounding, = or +=")

    def check_docs(self):
        path = os.path.join(self.root, "docs/architecture.md")
        if not os.path.exists(path):
            return
        with open(path, encoding="utf-8") as f:
            page = f.read()
        table = re.search(r"^\| layer \|.*?(?:\n\n|\Z)", page, re.M | re.S)
        rows = re.findall(r"^\| `(?:src/)?(\w+)`[^|]*\| ([^|]*) \|", table.group() if table else "", re.M)
        for name, text in rows:
            if name not in self.layers:
                self.report("docs", "docs/architecture.md", 0, f"layer {name} is not in CMakeLists.txt")
                continue
            documented = set(re.findall(r"\w+", text)) & set(self.layers)
            real = self.layers[name].depends - {"utils", "device"}
            if "all" not in text and documented != real:
                self.report("docs", "docs/architecture.md", 0, f"layer {name}: documented {sorted(documented)}, real {sorted(real)}")
        for name in sorted(set(self.layers) - {row[0] for row in rows}):
            self.report("docs", "docs/architecture.md", 0, f"layer {name} is missing in the table")
        for name, table in re.findall(r"^\| `(?:src/)?(\w+)/` \|.*\n((?:\|.*\n)*)", page, re.M):
            documented = re.findall(r"^\| `(\w+)`", table, re.M)
            real = self.layers[name].subfolders if name in self.layers else []
            if documented != real:
                self.report("docs", "docs/architecture.md", 0, f"subfolders of {name}: documented {documented}, real {real}")

        self.check_ways(page)
        terms = re.findall(r"^\| ", page.partition("## 14. Glossary")[2], re.M)[2:]
        if len(terms) > TERM_LIMIT:
            self.report("docs", "docs/architecture.md", 0, f"{len(terms)} terms in the glossary, at most {TERM_LIMIT}")

    def check_ways(self, page):
        """Every folder on the ways through the code exists (check_pages asks for the files)."""
        folders = {"/" + os.path.dirname(path) + "/" for path in self.by_path}
        table = re.search(r"^\| question \|.*?(?:\n\n|\Z)", page, re.M | re.S)
        for way in re.findall(r"^\| [^|]*\| (.*) \|$", table.group() if table else "", re.M):
            for name in re.findall(r"`([\w./-]*/)`", way):
                if not any(("/" + name) in folder for folder in folders):
                    self.report("docs", "docs/architecture.md", 0, f"there is no folder {name}")

    def find_pages(self):
        yield from (name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md") if os.path.exists(os.path.join(self.root, name)))
        for folder, _, names in os.walk(os.path.join(self.root, "docs")):
            yield from (os.path.relpath(os.path.join(folder, name), self.root) for name in sorted(names) if name.endswith(".md"))

    def check_pages(self):
        endings = {"/" + path for path in self.by_path}
        for page in self.find_pages():
            with open(os.path.join(self.root, page), encoding="utf-8") as f:
                rows = f.read().split("\n")
            for line, row in enumerate(rows, 1):
                if len(row) > PAGE_COLUMN_LIMIT and not row.startswith("|"):
                    self.report("docs", page, line, f"{len(row)} columns, at most {PAGE_COLUMN_LIMIT} outside tables")
                for name in re.findall(r"`(?!\S*\bx[._])([\w./-]*\w\w\.(?:h|cpp|cu|cuh))`", row):
                    if not any(path.endswith("/" + name) for path in endings):
                        self.report("docs", page, line, f"there is no {name}")
                for link in re.findall(r"\]\(([^)#\s]+)", row):
                    target = os.path.join(self.root, os.path.dirname(page), link)
                    if "://" not in link and not os.path.exists(target):
                        self.report("docs", page, line, f"there is no {link}")

    # --- shell ------------------------------------------------------------------------------------------------------------------
    def check_shell(self):
        scripts = list(find_scripts(self.root))
        if not scripts:
            return
        program = shutil.which("shellcheck")
        if program is None:
            sys.exit("lint: shellcheck is missing: run make deps")
        result = subprocess.run([program, "-x", "--format=gcc", *scripts], cwd=self.root, capture_output=True, text=True)
        for path, line, message in re.findall(r"^(\S+?):(\d+):\d+: (.*)$", result.stdout, re.M):
            self.report("shell", path, int(line), message)

    # --- reference data ---------------------------------------------------------------------------------------------------------
    def check_golden(self):
        folder = os.path.join(self.root, "tests/golden")
        paths = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names]
        size = sum(os.lstat(path).st_size for path in paths)
        if size > GOLDEN_LIMIT:
            self.report("golden", "tests/golden", 0, f"{size} bytes, at most {GOLDEN_LIMIT}: choose fewer cases, MPITRON_GOLDEN_DIR has all")

    # --- formatting -------------------------------------------------------------------------------------------------------------
    @staticmethod
    def read_if_there(path):
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8") as f:
            return f.read()

    def check_format(self):
        program = shutil.which("clang-format-14")
        if program is None:
            sys.exit("lint: clang-format-14 is missing: run make deps")
        # Sources that were found formatted once are known by their hashes. The path is part of a hash: it decides which include comes first.
        memory = os.path.join(self.root, ".cache", "formatted")
        known = set(self.read_if_there(memory).split())
        seed = self.read_if_there(os.path.join(self.root, ".clang-format"))
        hashes = {s.path: hashlib.blake2b((seed + s.path + s.text).encode(), digest_size=16).hexdigest() for s in self.sources}
        paths = [path for path, digest in hashes.items() if digest not in known]
        chunks = [paths[i:i + 12] for i in range(0, len(paths), 12)]

        def run(chunk):
            return subprocess.run([program, "--dry-run", "-Werror", *chunk], cwd=self.root, capture_output=True, text=True).stderr

        bad = set()
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for text in pool.map(run, chunks):
                bad |= set(re.findall(r"^(\S+?):\d+:\d+: error:", text, re.M))
        for path in sorted(bad):
            self.report("format", path, 1, "not formatted: make format")
        os.makedirs(os.path.dirname(memory), exist_ok=True)
        with open(memory, "w") as file:
            file.write("\n".join(digest for path, digest in hashes.items() if path not in bad))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    parser.add_argument("--no-format", action="store_true")
    arguments = parser.parse_args()
    lint = Lint(os.path.abspath(arguments.root))
    lint.check_layers()
    lint.check_foreign()
    lint.check_budget()
    lint.check_tests()
    lint.check_names()
    lint.check_contracts()
    lint.check_docs()
    lint.check_pages()
    lint.check_shell()
    lint.check_golden()
    if not arguments.no_format:
        lint.check_format()
    for rule, path in sorted(lint.exceptions - lint.used):
        lint.findings.append(f"tests/lint/exceptions.txt: not needed any more: {rule} {path}")
    for finding in lint.findings:
        print(finding)
    print(f"lint: {len(lint.findings)} findings in {len(lint.sources)} files" if lint.findings else f"lint: {len(lint.sources)} files are clean")
    return 1 if lint.findings else 0


if __name__ == "__main__":
    sys.exit(main())
