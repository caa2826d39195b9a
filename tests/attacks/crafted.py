#!/usr/bin/env python3
"""Gives the program inputs that are made to hurt: nested without end, cyclic, exponential, huge, pointing elsewhere, carrying code.

usage: crafted.py [--only pickle] [--program build/bin/mpitron] [--folder DIR]

Beside what no input may cause, nothing outside the folder may be read into an output, and no code of a pickle may run (a file named
EXECUTED would tell).
"""
import gzip
import io
import json
import os
import pathlib
import pickle
import struct
import sys
import zipfile

from attack import TINY, Tally, fresh, must, options, run
from inputs import FAMILIES, LLAMA, SOURCE

DEEP = 100_000
BPE = ["--tokenizer-type", "GPT2BPETokenizer", "--vocab-file", "bpe/vocab.json", "--merge-file", "bpe/merges.txt"]


def nested(opening, closing, depth=DEEP, core=""):
    return opening * depth + core + closing * depth


def safetensors(header, data=b"\0" * 64, length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode() if not isinstance(header, str) else header.encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def tensor(**changes):
    return {"t": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16], **changes}}


def archive(data_pkl, name="archive/data.pkl", more=()):
    """A file as torch.save writes it, with this pickle inside."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr(name, data_pkl)
        z.writestr("archive/version", "3\n")
        for file, bytes_ in more:
            z.writestr(file, bytes_)
    return out.getvalue()


class Execute:
    def __reduce__(self):
        return os.system, ("touch EXECUTED",)


def weights():
    """Headers of safetensors, in a folder of a Llama."""
    deep = nested("[", "]")
    texts = {
        "deep shape": '{"t":{"dtype":"F32","shape":%s,"data_offsets":[0,0]}}' % deep,
        "deep dtype": '{"t":{"dtype":%s,"shape":[1],"data_offsets":[0,4]}}' % deep,
        "deep offsets": '{"t":{"dtype":"F32","shape":[1],"data_offsets":%s}}' % deep,
        "deep metadata": '{"__metadata__":%s,"t":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}' % deep,
        "deep first member": '{"x":%s,"t":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}' % deep,
        "deep objects": nested('{"a":', "}", core="1"),
        "many members": "{" + ",".join(f'"t{i}":{{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}' for i in range(200_000)) + "}",
    }
    made = {name: safetensors(text) for name, text in texts.items()}
    rows = {
        "negative extent": tensor(shape=[-2, 2]), "overflowing extents": tensor(shape=[1 << 40, 1 << 40]),
        "extent of 2^63": tensor(shape=[1 << 63]), "real extent": tensor(shape=[2.5]), "many extents": tensor(shape=[1] * 100_000),
        "offsets reversed": tensor(data_offsets=[16, 0]), "offsets beyond the file": tensor(data_offsets=[0, 1 << 60]),
        "offsets overflow": tensor(data_offsets=[(1 << 64) - 8, (1 << 64) - 1]), "negative offsets": tensor(data_offsets=[-8, 8]),
        "unknown type": tensor(dtype="Q7"), "a list": [1, 2], "overlap": {**tensor(), "u": tensor()["t"]},
    }
    made.update({name: safetensors(header) for name, header in rows.items()})
    made["header of 2^63 bytes"] = safetensors(tensor(), length=1 << 63)
    made["header of 2^64 - 1 bytes"] = safetensors(tensor(), length=(1 << 64) - 1)
    made["header beyond the file"] = safetensors(tensor(), length=1 << 30)
    made["header that is no UTF-8"] = safetensors(b'{"\xff\xfe":1}')
    made["no bytes"] = b""
    for name, data in made.items():
        yield f"safetensors: {name}", {"hf/model.safetensors": data, "hf/model.safetensors.index.json": None}, ["convert", "--from", "hf",
                                                                                                              "--to", "out"]


def shard_indices():
    plain = {"metadata": {}, "weight_map": {}}
    for name, place in {"parent": "../../../etc/passwd", "absolute": "/etc/passwd", "endless": "/dev/zero", "pipe": "/dev/stdin",
                        "missing": "nowhere.safetensors", "itself": "model.safetensors.index.json", "empty": "", "nul": "a\0b"}.items():
        yield f"shard index: {name}", {"hf/model.safetensors.index.json": json.dumps({**plain, "weight_map": {"x": place}})}, [
            "convert", "--from", "hf", "--to", "out"]
    deep = nested("[", "]")
    for name, text in {"deep first member": '{"x":%s,"metadata":1,"b":2,"weight_map":{}}' % deep,
                       "deep map": '{"weight_map":%s}' % deep, "deep place": '{"weight_map":{"x":%s}}' % deep,
                       "map of numbers": '{"weight_map":{"x":1}}',
                       "half a million names": json.dumps({"weight_map": {f"t{i}": "a" for i in range(500_000)}})}.items():
        yield f"shard index: {name}", {"hf/model.safetensors.index.json": text}, ["convert", "--from", "hf", "--to", "out"]


def model_configurations(config):
    changes = {"a million layers": {"num_hidden_layers": 1_000_000}, "10^9 layers": {"num_hidden_layers": 1_000_000_000},
               "10^18 layers": {"num_hidden_layers": 10 ** 18}, "negative layers": {"num_hidden_layers": -1},
               "huge width": {"hidden_size": 1 << 31}, "huge vocabulary": {"vocab_size": 1 << 31}, "no heads": {"num_attention_heads": 0},
               "10^9 heads": {"num_attention_heads": 1_000_000_000}, "10^9 experts": {"num_local_experts": 1_000_000_000,
                                                                                       "architectures": ["MixtralForCausalLM"],
                                                                                       "model_type": "mixtral"},
               "text for a number": {"hidden_size": "many"}, "not a number": {"rms_norm_eps": float("nan")}}
    for name, change in changes.items():
        yield f"config.json: {name}", {"hf/config.json": json.dumps({**config, **change})}, ["convert", "--from", "hf", "--to", "out"]
    yield "config.json: deep", {"hf/config.json": nested('{"a":', "}", core="1")}, ["convert", "--from", "hf", "--to", "out"]


def pickles():
    """data.pkl and .metadata of Megatron's formats."""
    cycle = []
    cycle.append(cycle)
    lists = [[]]
    for _ in range(60):
        lists.append([lists[-1], lists[-1]])
    deep = b"\x80\x02" + b"]" * 200_000 + b"a" * 199_999 + b"."
    tuples = b"\x80\x02)" + b"\x85" * 1_000_000 + b"."
    made = {
        "code in a reduce": pickle.dumps(Execute()), "code below a list": pickle.dumps([1, {"a": Execute()}]),
        "a cycle": pickle.dumps(cycle), "shared lists": pickle.dumps(lists[-1]), "deep lists": deep, "deep tuples": tuples,
        "twenty million values": b"\x80\x02(" + b"N" * 20_000_000 + b"l.", "five million lists": b"\x80\x02(" + b"]" * 5_000_000 + b"l.",
        "a long of 2^31 bytes": b"\x80\x02\x8b\xff\xff\xff\x7f" + b"\1" * 100 + b".",
        "bytes of 2^63": b"\x80\x04\x8e" + struct.pack("<Q", 1 << 63) + b"x.", "text of 2^63": b"\x80\x04\x8d" + struct.pack("<Q", 1 << 63)
        + b"x.", "a frame of 2^63": b"\x80\x04\x95" + struct.pack("<Q", 1 << 63) + b"N.",
        "memo of 2^32": b"\x80\x02Nr\xff\xff\xff\xff.", "memo that is not there": b"\x80\x02h\7.", "an empty stack": b"\x80\x02.",
        "marks without end": b"\x80\x02" + b"(" * 1_000_000 + b".", "a global": b"cos\nsystem\n.", "an instance": b"(ios\nsystem\n.",
        "an extension": b"\x80\x02\x82\1.", "a persistent id": b"\x80\x02X\1\0\0\0aQ.", "protocol 255": b"\x80\xffN.",
        "no stop": b"\x80\x02N" * 3,
    }
    torch = sorted((SOURCE / "tests/convert/megatron/torch").glob("iter_*/*/*.pt"))[0].relative_to(SOURCE / "tests/convert")
    metadata = sorted((SOURCE / "tests/convert/megatron/dist").glob("iter_*/.metadata"))[0].relative_to(SOURCE / "tests/convert")
    for name, data in made.items():
        yield f"pickle in torch: {name}", {str(torch): archive(data)}, ["convert", "--from", "megatron/torch", "--to", "out"]
        yield f"pickle in torch_dist: {name}", {str(metadata): data}, ["convert", "--from", "megatron/dist", "--to", "out"]
    good = pickle.dumps({"args": 1})
    archives = {"no zip": b"PK\3\4" + b"x" * 100, "path traversal": archive(good, "../../data.pkl"),
                "absolute path": archive(good, "/tmp/data.pkl"), "no pickle": archive(good, "archive/other"),
                "bomb": None, "empty": b""}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("archive/data.pkl", bytes(200_000_000))
    archives["bomb"] = out.getvalue()
    for name, data in archives.items():
        yield f"torch archive: {name}", {str(torch): data}, ["convert", "--from", "megatron/torch", "--to", "out"]


def tokenizers():
    text = ["tokenize", "count", "--input", "in.jsonl"]
    hf = [*text, "--tokenizer-type", "HuggingFaceTokenizer", "--tokenizer-model", "t.json"]
    good = json.loads((FAMILIES / "hf_llama3/tokenizer.json").read_text())
    regex = lambda pattern: {**good, "pre_tokenizer": {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated",
                                                       "invert": False}}
    sequence = {"type": "Sequence", "pretokenizers": []}
    for _ in range(400):
        sequence = {"type": "Sequence", "pretokenizers": [sequence]}
    made = {"deep": nested('{"a":', "}", core="1"), "deep vocabulary": '{"model":{"type":"BPE","vocab":%s}}' % nested("[", "]"),
            "sequences in sequences": json.dumps({**good, "pre_tokenizer": sequence}),
            "catastrophic expression": json.dumps(regex("(a+)+(b+)+(a|aa)+$")), "nested repeats": json.dumps(regex("((((a{1,100}){1,100}){1,100}){1,100})")),
            "long expression": json.dumps(regex("(" * 5000 + "a" + ")" * 5000)),
            "id of 2^63": json.dumps({**good, "added_tokens": [{"id": 1 << 63, "content": "a"}]}),
            "id of 2^31": json.dumps({**good, "added_tokens": [{"id": 1 << 31, "content": "a", "special": True, "single_word": False,
                                                               "lstrip": False, "rstrip": False, "normalized": False}]})}
    for name, data in made.items():
        yield f"tokenizer.json: {name}", {"t.json": data}, hf
    piece = lambda number, data: bytes([number << 3 | 2]) + data
    sentence = {"length of 2^63": piece(1, b"\xff" * 9 + b"\1"), "length beyond the file": piece(1, b"\xff\xff\xff\xff\x7f"),
                "deep groups": b"\x0b" * DEEP, "endless varint": b"\x0a" + b"\x80" * 1000, "no pieces": b""}
    for name, data in sentence.items():
        yield f"SentencePiece: {name}", {"m.model": data}, [*text, "--tokenizer-type", "SentencePieceTokenizer", "--tokenizer-model",
                                                          "m.model"]
    for name, data in {"rank of 2^63": "YQ== 9223372036854775807\n", "same rank": "YQ== 0\nYg== 0\n", "no base64": "*** 0\n"}.items():
        yield f"tiktoken: {name}", {"r.tiktoken": data}, [*text, "--tokenizer-type", "TikTokenizer", "--tokenizer-model", "r.tiktoken",
                                                         "--tiktoken-pattern", "v2"]
    for name, (vocab, merges) in {"merge of nothing": ('{"a":0}', "a b\n"), "id of 2^62": ('{"a":4611686018427387904}', ""),
                                  "deep": (nested("[", "]"), ""), "negative id": ('{"a":-1}', "")}.items():
        yield f"BPE: {name}", {"bpe/vocab.json": vocab, "bpe/merges.txt": merges}, [*text, *BPE]


def texts():
    """JSONL and plain text for preprocess and tokenize."""
    words = ["preprocess", "--output-prefix", "out", *BPE, "--input"]
    for name, line in {"deep": '{"text":%s}' % nested("[", "]"), "deep beside the text": '{"a":%s,"text":"x"}' % nested("[", "]"),
                       "one word of 20 MB": json.dumps({"text": "a" * 20_000_000}), "one line of blanks": " " * 50_000_000,
                       "a lone surrogate": '{"text":"\\ud800"}', "a number": '{"text":1e999}'}.items():
        yield f"JSONL: {name}", {"x.jsonl": line + "\n"}, [*words, "x.jsonl"]
    yield "JSONL: endless zeros", {}, [*words, "/dev/zero"]
    yield "JSONL: gzip of 100 MB in a line", {"x.jsonl.gz": gzip.compress(b"a" * 100_000_000)}, [*words, "x.jsonl.gz"]
    yield "JSONL: gzip of 1 GB in a line", {"x.jsonl.gz": gzip.compress(bytes(1_000_000_000), 9)}, [*words, "x.jsonl.gz"]
    yield "JSONL: half a gzip", {"x.jsonl.gz": gzip.compress(b"{}\n" * 10_000)[:40]}, [*words, "x.jsonl.gz"]
    yield "text of 20 MB, counted", {"x.jsonl": json.dumps({"text": "one two three. " * 1_400_000})}, ["tokenize", "count", *BPE, "--input",
                                                                                                   "x.jsonl"]


def corpora():
    index = lambda sequences, documents, code=4, version=1: (b"MMIDIDX\0\0" + struct.pack("<QBQQ", version, code, sequences, documents)
                                                          + struct.pack("<iqqq", 8, 0, 0, 1))
    for name, data in {"2^62 sequences": index(1 << 62, 2), "2^62 documents": index(1, 1 << 62), "version 9": index(1, 2, version=9),
                       "type 77": index(1, 2, code=77), "no documents": index(1, 0), "sequences overflow": index((1 << 64) - 1, 2)}.items():
        yield f"index: {name}", {"c.idx": data, "c.bin": bytes(64)}, ["dataset", "inspect", "c"]


def settings():
    """YAML files and values of options."""
    check = ["check", *TINY, "--train-iters", 4]
    laugh = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))
    for name, text in {"aliases of aliases": laugh, "deep": nested("[", "]", 50_000), "deep maps": nested("{a: ", "}", 50_000, "1"),
                       "itself": "&a [*a]\n", "a document of nothing": "---\n...\n", "tabs": "\ta: 1\n", "nul": "a: \0\n"}.items():
        yield f"YAML: {name}", {"y.yaml": text}, ["check", "--yaml-cfg", "y.yaml"]
    for name, words in {"list of 10^9": ["--moe-layer-freq", "[1]*1000000000"], "lists times lists": ["--moe-layer-freq", "([1]*1000)*1000000"],
                        "deep brackets": ["--moe-layer-freq", nested("(", ")", 60_000, "1")],
                        "10^18 layers": ["--num-layers", "1000000000000000000"], "10^8 layers": ["--num-layers", "100000000"],
                        "2e9 positions": ["--seq-length", "2000000000", "--max-position-embeddings", "2000000000"],
                        "a long pattern": ["--pipeline-model-parallel-layout", "t" * 100_000], "a long name": ["--" + "x" * 100_000],
                        "a long folder": ["--save", "a" * 100_000], "control characters": ["--save", "a\x1b]0;x\x07"],
                        "a split of words": ["--split", "one,two"], "a million words": ["--data-path", *["1"] * 20_000]}.items():
        yield f"option: {name}", {}, [*check, *words]


def records():
    """What `status` and `report` read of a run that somebody else wrote."""
    run_json = json.dumps({"name": "<script>alert(1)</script>", "options": {"a": "\x1b[2J"}})
    for name, files in {"deep run.json": {"tb/run.json": nested('{"a":', "}", core="1")},
                        "deep metrics": {"tb/metrics.jsonl": nested("[", "]") + "\n"},
                        "escapes and scripts": {"tb/run.json": run_json},
                        "steps of 2^63": {"tb/metrics.jsonl": '{"step":9223372036854775807,"lm loss":1}\n' * 10},
                        "half a line": {"tb/metrics.jsonl": '{"step":1,"lm lo'}}.items():
        for words in (["status", "tb"], ["report", "tb", "--output", "out.html"]):
            yield f"{words[0]}: {name}", files, words
    state = '{\n  "state": "failed-fatal",\n  "reason": "\\u001b[2J\x1b]0;x\x07",\n  "exit_code": "$(touch EXECUTED)"\n}\n'
    yield "status: escapes in run_state.json", {"ck/run_state.json": state}, ["status", "ck"]
    for name, text in {"a path": "../../x", "a number of 10^18": "1000000000000000000", "negative": "-5", "a megabyte": "9" * 1_000_000}.items():
        yield f"tracker: {name}", {"ck/latest_checkpointed_iteration.txt": text}, ["pretrain-gpt", *TINY, "--train-iters", 6, "--load", "ck",
                                                                                 "--override-opt_param-scheduler"]


def main():
    given = options(__doc__, 1)
    tally = Tally(given, "crafted")
    base = fresh(given.folder / "base")
    p = given.program
    must(run([p, "pretrain-gpt", *TINY, "--train-iters", 4, "--save", "ck", "--tensorboard-dir", "tb"], base), "a checkpoint")
    must(run([p, "pretrain-gpt", *LLAMA, "--save", "llama"], base), "a Llama")
    must(run([p, "convert", "--from", "llama", "--to", "hf", "--true-vocab-size", 8191], base), "a Hugging Face folder")
    (base / "in.jsonl").write_text('{"text": "The end is near aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab."}\n' * 20)
    must(run([p, "tokenizer", "train", "--input", "in.jsonl", "--vocab-size", 270, "--output-dir", "bpe"], base), "a vocabulary")
    config = json.loads((base / "hf/config.json").read_text())
    rows = [*weights(), *shard_indices(), *model_configurations(config), *pickles(), *tokenizers(), *texts(), *corpora(), *settings(),
            *records()]
    for name, files, words in rows:
        if given.only not in name:
            continue
        copy = fresh(given.folder / "copy")
        for folder in ("ck", "tb", "hf", "bpe"):
            os.system(f"cp -r '{base / folder}' '{copy}'")
        os.system(f"cp '{base / 'in.jsonl'}' '{copy}'; cp -r '{SOURCE / 'tests/convert/megatron'}' '{copy}'")
        for file, data in files.items():
            target = copy / file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            if data is not None:
                target.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))
        outcome = run([p, *words], copy, 30)
        kind = name.split(":")[0]
        tally.tried(kind, outcome)
        if outcome.trouble():
            tally.failures[-1]["input"] = name
            print("   ", name, flush=True)
        if (copy / "EXECUTED").exists():
            tally.failed(kind, f"{name}: code was run", outcome)
        if "\x1b" in outcome.out + outcome.err and kind == "status":
            tally.failed(kind, f"{name}: an escape sequence reaches the terminal", outcome)
        if any(b"root:" in f.read_bytes() for f in copy.glob("out*/*") if f.is_file()):
            tally.failed(kind, f"{name}: a file outside the folder was read", outcome)
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
