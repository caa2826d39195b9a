#!/usr/bin/env python3
"""Tests of the lint: small trees with one fault each must fail with the right finding, a clean tree must pass.

usage: lint_test.py CASE     (CTest knows each case as lint.CASE);   lint_test.py --list
"""
import os
import subprocess
import sys
import tempfile

LINT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lint.py")
ROWS = "mpitron_layer(utils)\nmpitron_layer(io DEPENDS utils)\nmpitron_layer(data DEPENDS utils io FOREIGN simdjson)\nmpitron_layer(kernels)\n"
HEADER = "#pragma once\nint {name}();\n"
BODY = "int number() { return 3; }\n"
CLEAN = {
    ".clang-format": "BasedOnStyle: Google\n",
    "CMakeLists.txt": ROWS,
    "utils/text.h": HEADER.format(name="text"),
    "io/token_file.h": '#pragma once\n#include "utils/text.h"\n',
    "src/data/loader.h": '#pragma once\n#include "io/token_file.h"\n',
    "src/data/json.cpp": "#include <simdjson.h>\n" + BODY,
    "kernels/norm.h": "#pragma once\n// Numerical contract: fp32 accumulation.\nvoid run(int);\n",
    "tests/utils/text_test.cpp": '#include "utils/text.h"\n',
    "tests/io/token_file_test.cpp": '#include "io/token_file.h"\n',
    "tests/data/loader_test.cpp": '#include "data/loader.h"\nint a;\nint b;\nint c;\n',
    "tests/data/json_test.cpp": "int d;\n",
    "tests/kernels/norm_test.cpp": '#include "kernels/norm.h"\n',
}
FLOORS = {
    "CMakeLists.txt": ROWS + "mpitron_layer(nn SUBFOLDERS low high)\n",
    "src/nn/low/norm.h": "#pragma once\n",
    "src/nn/high/block.h": "#pragma once\n",
}
LAYERS = "| layer | may include | holds |\n| `utils` | - | x |\n| `io` | - | x |\n| `src/data` | io | x |\n| `kernels` | - | x |\n"
OWN_HEADER_FIRST = '#include "io/token_file.h"\n\n#include <vector>\n'
LONG_FUNCTION = "int f() {\n" + "  g();\n" * 95 + "}\n"
# case -> (files that differ from the clean tree, text that the report must hold; None: the tree must pass; the files when the lint ran before)
CASES = {
    "clean_tree_passes": ({}, None),
    "mutual_include_fails": ({"utils/text.h": '#pragma once\n#include "io/token_file.h"\n'},
                             "folder cycle io -> utils -> io: io/token_file.h includes utils/text.h; utils/text.h includes io/token_file.h"),
    "cycle_over_three_folders_fails": ({"utils/text.h": '#pragma once\n#include "data/loader.h"\n'}, "folder cycle io -> utils -> src/data -> io"),
    "forbidden_layer_fails": ({"io/token_file.h": '#pragma once\n#include "kernels/norm.h"\n'}, "io may not include kernels"),
    "subfolder_including_a_lower_one_passes": ({**FLOORS, "src/nn/high/block.h": '#pragma once\n#include "nn/low/norm.h"\n'}, None),
    "subfolder_including_a_higher_one_fails": ({**FLOORS, "src/nn/low/norm.h": '#pragma once\n#include "nn/high/block.h"\n'},
                                               "src/nn/low/norm.h:2: [layers] low may not include high"),
    "commented_include_passes": ({"utils/text.h": '#pragma once\n// #include "io/token_file.h"\n'}, None),
    "unknown_include_fails": ({"io/token_file.h": '#pragma once\n#include "token.h"\n'}, '"token.h" is no file'),
    "source_includes_test_fails": ({"io/token_file.h": '#pragma once\n#include "tests/support/x.h"\n', "tests/support/x.h": "#pragma once\n"},
                                   "a source may not include tests/support/x.h"),
    "folder_without_row_fails": ({"src/extra/thing.h": '#pragma once\n#include "utils/text.h"\n', "tests/extra/thing_test.cpp": "int x;\n"},
                                 "folder extra has no mpitron_layer row"),
    "foreign_header_in_wrong_layer_fails": ({"io/token_file.cpp": "#include <mpi.h>\n"}, "the row of layer io does not name MPI::MPI_CXX"),
    "foreign_header_in_header_fails": ({"src/data/loader.h": "#pragma once\n#include <simdjson.h>\n"}, "<simdjson.h> in a header"),
    "badly_formatted_file_fails": ({"io/token_file.cpp": "int  x ;\n"}, "not formatted"),
    "formatted_file_that_moved_fails": ({"tests/io/moved_test.cpp": OWN_HEADER_FIRST}, "tests/io/moved_test.cpp:1: [format]",
                                        {"tests/io/token_file_test.cpp": OWN_HEADER_FIRST}),
    "long_line_fails": ({"io/token_file.cpp": "// " + "x" * 100 + "\n"}, "103 columns"),
    "loop_without_braces_fails": ({"io/token_file.cpp": "int f() {\n  while (true)\n    g();\n}\n"}, "io/token_file.cpp:2: [braces]"),
    "long_file_fails": ({"io/token_file.cpp": "int x;\n" * 601, "tests/io/more_test.cpp": "int x;\n" * 500}, "601 lines, at most 600"),
    "long_function_fails": ({"io/token_file.cpp": LONG_FUNCTION, "tests/io/more_test.cpp": "int x;\n" * 99}, "f has 97 lines, at most 90"),
    "seven_parameters_fail": ({"io/token_file.cpp": "int f(int a, int b, int c, int d, int e, int g, int h) {\n  return a;\n}\n"}, "f has 7 parameters"),
    "twenty_one_fields_fail": ({"io/token_file.h": "#pragma once\nstruct Wide {\n" + "  int a, b, c;\n" * 7 + "  int f(int x, int y);\n};\n"},
                               "Wide has 21 fields, at most 20"),
    "parts_in_bases_pass": ({"io/token_file.h": "#pragma once\nstruct Part {\n" + "  int a, b, c;\n" * 6 + "};\nstruct Wide : Part {\n"
                             + "  int d, e;\n" * 9 + "};\n", "tests/io/more_test.cpp": "int x;\n" * 20}, None),
    "tree_without_comments_fails": ({f"io/{folder}/part{i}.h": "#pragma once\nint part();\n" for folder in "ab" for i in range(30)},
                                    "comments/code is 0."),
    "macro_fails": ({"io/token_file.cpp": "#define LIMIT 3\n"}, "macro LIMIT"),
    "conditional_fails": ({"io/token_file.cpp": "#ifdef X\n#endif\n"}, "#if belongs into adapters"),
    "listed_exception_passes": ({"io/token_file.cpp": "#ifdef X\n#endif\n", "tests/lint/exceptions.txt": "conditional io/token_file.cpp it adapts X\n"}, None),
    "exception_without_reason_fails": ({"tests/lint/exceptions.txt": "conditional io/token_file.cpp\n"}, "no reason given"),
    "stale_exception_fails": ({"tests/lint/exceptions.txt": "macro io/token_file.cpp it was needed\n"}, "not needed any more"),
    "name_of_two_sources_fails": ({f"io/{name}.cpp": "namespace io {\nnamespace {\nconstexpr int kMost = 3;\n}  // namespace\n}\n" for name in ("a", "b")},
                                  "io::kMost is also in the unnamed namespace of io/a.cpp"),
    "function_of_two_sources_fails": ({f"io/{name}.cpp": f"namespace {{\nint most(int {name}) {{\n  return 1;\n}}\n}}\n" for name in ("a", "b")},
                                      "most(int) is also in"),
    "alias_of_two_sources_passes": ({f"io/{name}.cpp": "namespace {\nusing Path = int;\n}\n" for name in ("a", "b")}, None),
    "todo_fails": ({"io/token_file.cpp": "// TODO: later\n"}, "open work belongs into an issue"),
    "missing_contract_fails": ({"kernels/norm.h": "#pragma once\nvoid run(int);\n"}, "no numerical contract"),
    "op_without_contract_fails": ({"src/ops/norm.h": "#pragma once\nVar norm(Var x);\n"}, "src/ops/norm.h:1: [contract]"),
    "helper_of_ops_without_contract_passes": ({"src/ops/norm.h": "#pragma once\nint rows(Var x);\n"}, None),
    "untested_source_fails": ({"tests/data/json_test.cpp": None}, "without: json"),
    "untested_data_passes": ({"tests/io/token_file_test.cpp": None}, None),
    "wrong_docs_table_fails": ({"docs/architecture.md": "| layer | may include | holds |\n| `utils` | - | x |\n| `io` | - | x |\n| `src/data` | - | x |\n| `kernels` | - | x |\n"},
                               "layer data: documented [], real ['io']"),
    "wrong_table_of_subfolders_fails": ({**FLOORS, "docs/architecture.md": "| `src/nn/` | holds |\n| --- | --- |\n| `high` | x |\n| `low` | x |\n"},
                                        "subfolders of nn: documented ['high', 'low'], real ['low', 'high']"),
    "way_through_a_lost_folder_fails": ({"docs/architecture.md": LAYERS + "\n| question | way |\n| --- | --- |\n| Where? | `io/` -> `data/lost/` |\n"},
                                        "there is no folder data/lost/"),
    "long_glossary_fails": ({"docs/architecture.md": LAYERS + "\n## 14. Glossary\n\n| term | meaning |\n| --- | --- |\n" + "| a | b |\n" * 41},
                            "41 terms in the glossary, at most 40"),
    "page_naming_a_lost_source_fails": ({"docs/how-to/x.md": "See `io/lost.h`.\n"}, "docs/how-to/x.md:1: [docs] there is no io/lost.h"),
    "page_linking_to_a_lost_page_fails": ({"README.md": "[how](docs/lost.md#here)\n"}, "README.md:1: [docs] there is no docs/lost.md"),
    "page_with_a_long_line_fails": ({"README.md": "word " * 29 + "\n"}, "README.md:1: [docs] 145 columns"),
    "page_with_a_long_row_passes": ({"README.md": "|" + "word " * 29 + "|\n"}, None),
    "crowded_folder_fails": ({f"io/data{i}.h": "#pragma once\n" for i in range(30)}, "31 sources in a folder"),
    "page_with_right_names_passes": ({"docs/x.md": "`data/loader.h`, `json.cpp` and [this](../README.md)\n", "README.md": "a\n"}, None),
    "faulty_shell_fails": ({"jobs/train/x.sbatch": "#!/bin/bash\nrm $1\n"}, "jobs/train/x.sbatch:2: [shell]"),
    "good_shell_passes": ({"jobs/launch.sh": "#!/bin/bash\nrm \"$1\"\n"}, None),
    "large_reference_data_fails": ({"tests/golden/curves/x/weights": "0" * 12_000_001}, "12000001 bytes, at most 12000000"),
    "right_docs_table_passes": ({"docs/architecture.md": LAYERS}, None),
}


def run_lint(root, changes):
    for path, text in {**CLEAN, **changes}.items():
        if text is not None:
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as f:
                f.write(text)
    return subprocess.run([sys.executable, LINT, "--root", root], capture_output=True, text=True)


def run_case(changes, expected, before=None):
    with tempfile.TemporaryDirectory() as root:
        if before is not None and run_lint(root, before).returncode != 0:
            raise AssertionError("the tree before the change is not clean")
        result = run_lint(root, changes)
    if expected is None:
        return result.returncode == 0, result
    return result.returncode == 1 and expected in result.stdout, result


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(CASES))
        return 0
    passed, result = run_case(*CASES[sys.argv[1]])
    if not passed:
        print(f"{sys.argv[1]}: exit code {result.returncode}, expected {CASES[sys.argv[1]][1]!r} in:\n{result.stdout}{result.stderr}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
