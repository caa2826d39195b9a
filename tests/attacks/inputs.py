#!/usr/bin/env python3
"""Damages inputs of every kind and gives them to the program: it may refuse them, but not die, hang or take a gigabyte.

usage: inputs.py [--tries 5000] [--only tokenizer] [--program build/bin/mpitron] [--folder DIR] [--seed N]
"""
import pathlib
import random
import re
import shutil
import sys

from attack import TINY, Tally, fresh, must, options, run

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FAMILIES = SOURCE / "tests/golden/tokenizer/families"
LLAMA = ("--num-layers 2 --hidden-size 64 --ffn-hidden-size 128 --num-attention-heads 4 --seq-length 16 --max-position-embeddings 16 "
         "--micro-batch-size 2 --lr 1e-3 --swiglu --normalization RMSNorm --disable-bias-linear --position-embedding-type rope "
         "--untie-embeddings-and-output-weights --tokenizer-type NullTokenizer --vocab-size 8191 --mock-data --train-iters 1 "
         "--eval-iters 0").split()
TEXTS = [{"text": f"The {word} of line {i} sees {i * 37 % 11} others.\\n\\nIt ends here."} for i, word in
         enumerate("dog cat house river stone cloud tree road bird fish".split() * 4)]
EXTREMES = [b"0", b"-1", b"1", b"2147483648", b"4294967296", b"9223372036854775807", b"18446744073709551616", b"1e308", b"-0.0",
            b"NaN", b"null", b"true", b'""', b"[]", b"{}"]


def mutate(data):
    """One of a dozen ways to damage bytes; text-like ones hit numbers and brackets."""
    data = bytearray(data)
    at = random.randrange(len(data) + 1)
    size = random.choice([1, 2, 8, 64, max(1, len(data) // 4)])
    kind = random.randrange(12)
    if kind == 0 and data:
        for _ in range(random.choice([1, 1, 4, 32])):
            data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    elif kind == 1:
        del data[at:]
    elif kind == 2:
        del data[at:at + size]
    elif kind == 3:
        data[at:at] = data[at:at + size]
    elif kind == 4:
        data[at:at] = random.randbytes(size)
    elif kind == 5:
        data[at:at + size] = bytes(min(size, len(data) - at))
    elif kind == 6:
        data[at:at + size] = random.randbytes(min(size, max(len(data) - at, 0)))
    elif kind == 7:
        other = random.randrange(len(data) + 1)
        data[at:at + size], data[other:other + size] = data[other:other + size], data[at:at + size]
    elif kind in (8, 9):
        numbers = list(re.finditer(rb"-?\d+(\.\d+)?", bytes(data)))
        if numbers:
            hit = random.choice(numbers)
            data[hit.start():hit.end()] = random.choice(EXTREMES)
    elif kind == 10:
        data[at:at] = random.choice([b"[", b"{\"a\":", b"(", b"- "]) * random.choice([1, 600, 100_000])
    else:
        for _ in range(8):
            if data:
                data[random.randrange(len(data))] = random.choice([0, 0xFF, 0x80, 0x7F, 0x20])
    return bytes(data)


class Kind:
    """Inputs of one kind: valid files, those of them that are damaged, and commands that read them."""

    def __init__(self, name, files, *commands):
        self.name, self.files, self.commands = name, files, commands


def kinds(given, base):
    """Makes the valid inputs below `base` and names what reads them; `.` is the damaged copy of it."""
    p = given.program

    def make(words, what):
        must(run([p, *words], base, 120), what)

    (base / "in.jsonl").write_text("".join(str(t).replace("'", '"').replace("\\\\n", "\\n") + "\n" for t in TEXTS))
    make(["pretrain-gpt", *TINY, "--train-iters", 4, "--save", "ck", "--save-interval", 2, "--tensorboard-dir", "tb"], "a checkpoint")
    make(["pretrain-gpt", *LLAMA, "--save", "llama"], "a Llama")
    make(["convert", "--from", "llama", "--to", "hf", "--max-shard-size", 1, "--true-vocab-size", 8191], "a Hugging Face folder")
    make(["tokenizer", "train", "--input", "in.jsonl", "--vocab-size", 300, "--output-dir", "bpe"], "a vocabulary")
    gpt2 = ["--tokenizer-type", "GPT2BPETokenizer", "--vocab-file", "bpe/vocab.json", "--merge-file", "bpe/merges.txt"]
    make(["preprocess", "--input", "in.jsonl", "--output-prefix", "corpus", "--append-eod", *gpt2], "a corpus")
    make(["dataset", "convert", "corpus_text_document", "corpus.h5"], "a corpus in HDF5")
    shutil.copytree(SOURCE / "tests/convert/megatron", base / "megatron")
    shutil.copytree(FAMILIES, base / "families")
    (base / "ranks.tiktoken").write_text("".join(f"{encode(bytes([b]))} {b}\n" for b in range(256))
                                         + "".join(f"{encode(t.encode())} {256 + i}\n" for i, t in enumerate(["ab", "bc", "abc"])))
    (base / "run.yaml").write_text("num-layers: 2\nhidden-size: 32\nnum-attention-heads: 4\nseq-length: 16\n"
                                   "max-position-embeddings: 16\nmicro-batch-size: 2\nlr: 1e-3\ntrain-iters: 4\nmock-data: true\n"
                                   "tokenizer-type: NullTokenizer\nvocab-size: 63\nmoe-layer-freq: ([1]*1+[0]*1)*1\nsplit: 80,15,5\n")
    (base / "study.yaml").write_text("name: study\nkind: weak\ncommand: pretrain-gpt\nflags: {num-layers: 2, hidden-size: 32, "
                                     "num-attention-heads: 4, seq-length: 16, max-position-embeddings: 16, lr: 1e-3, train-iters: 8, "
                                     "mock-data: true, tokenizer-type: NullTokenizer, vocab-size: 63}\n"
                                     "points:\n  - {name: a, ranks: 1, flags: {micro-batch-size: 2}}\n")
    train = ["pretrain-gpt", *TINY, "--train-iters", 6, "--override-opt_param-scheduler"]
    corpus = ["pretrain-gpt", *[w for w in TINY if w != "--mock-data"], "--train-iters", 1, "--vocab-size", 300, "--data-path",
              "corpus_text_document", "--data-cache-path", "cache"]
    model = lambda folder, file: ["--tokenizer-type", "HuggingFaceTokenizer", "--tokenizer-model", f"families/{folder}/{file}"]
    text = ["tokenize", "count", "--input", "in.jsonl"]
    rows = [
        Kind("checkpoint", ["ck/iter_0000004/checkpoint.h5"], ["verify", "ck"], ["inspect", "ck", "--statistics"],
             ["convert", "--from", "ck", "--to", "out", "--to-format", "mpitron"], [*train, "--load", "ck"]),
        Kind("token index", ["corpus_text_document.idx"], ["dataset", "inspect", "corpus_text_document"], corpus),
        Kind("tokens", ["corpus_text_document.bin"], ["dataset", "inspect", "corpus_text_document"], corpus),
        Kind("corpus in HDF5", ["corpus.h5"], ["dataset", "inspect", "corpus.h5"], ["dataset", "convert", "corpus.h5", "out"]),
        Kind("Hugging Face weights", ["hf/*.safetensors"], ["convert", "--from", "hf", "--to", "out"]),
        Kind("Hugging Face configuration", ["hf/config.json"], ["convert", "--from", "hf", "--to", "out"]),
        Kind("shard index", ["hf/model.safetensors.index.json"], ["convert", "--from", "hf", "--to", "out"]),
        Kind("Megatron torch", ["megatron/torch/iter_*/*/*.pt"], ["convert", "--from", "megatron/torch", "--to", "out"]),
        Kind("Megatron torch_dist", ["megatron/dist/iter_*/.metadata", "megatron/dist/iter_*/*"],
             ["convert", "--from", "megatron/dist", "--to", "out"]),
        Kind("tokenizer.json", ["families/hf_*/tokenizer.json"],
             *[[*text, *model(f.name, "tokenizer.json")] for f in sorted(FAMILIES.glob("hf_*"))]),
        Kind("BPE vocabulary", ["bpe/vocab.json", "bpe/merges.txt"], [*text, *gpt2]),
        Kind("tiktoken", ["ranks.tiktoken"],
             [*text, "--tokenizer-type", "TikTokenizer", "--tokenizer-model", "ranks.tiktoken", "--tiktoken-pattern", "v2",
              "--tiktoken-num-special-tokens", 10, "--vocab-size", 269]),
        Kind("SentencePiece", ["families/sp_*/tokenizer.model"],
             *[[*text, "--tokenizer-type", "Llama2Tokenizer" if "llama" in f.name else "SentencePieceTokenizer", "--tokenizer-model",
                f"families/{f.name}/tokenizer.model"] for f in sorted(FAMILIES.glob("sp_*"))]),
        Kind("WordPiece", ["families/bert_*/vocab.txt"],
             [*text, "--tokenizer-type", "BertWordPieceLowerCase", "--vocab-file", "families/bert_lower/vocab.txt"]),
        Kind("JSONL, preprocess", ["in.jsonl"], ["preprocess", "--input", "in.jsonl", "--output-prefix", "out", *gpt2]),
        Kind("JSONL, clean", ["in.jsonl"], ["clean", "--input", "in.jsonl", "--output", "out.jsonl", "--min-tokens", 1],
             ["dedup", "--input", "in.jsonl", "--output", "out.jsonl"]),
        Kind("records of a run", ["tb/run.json", "tb/metrics.jsonl"], ["status", "tb"],
             ["report", "tb", "--output", "out.html"]),
        Kind("YAML", ["run.yaml"], ["check", "--yaml-cfg", "run.yaml"]),
        Kind("study", ["study.yaml"], ["scaling", "run", "study.yaml", "--dry-run", "--output", "out"]),
        Kind("state of a run", ["ck/run_state.json", "ck/latest_checkpointed_iteration.txt"], ["status", "ck"],
             [*train, "--load", "ck", "--save", "ck"]),
    ]
    return rows


def encode(data):
    import base64
    return base64.b64encode(data).decode()


def attack_files(given, tally, base, kind, number):
    copy = given.folder / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(base, copy, copy_function=lambda a, b: pathlib.Path(b).hardlink_to(a))
    found = sorted(f for pattern in kind.files for f in copy.glob(pattern) if f.is_file())
    command = kind.commands[number % len(kind.commands)]
    # A file that the command names is damaged rather than its neighbours of the same kind.
    named = [f for f in found if any(str(w) in str(f) and "/" in str(w) for w in command)] or found
    file = random.choice(named)
    damaged = mutate(file.read_bytes())
    file.unlink()
    file.write_bytes(damaged)
    outcome = run([given.program, *command], copy)
    tally.tried(kind.name, outcome)
    if outcome.trouble():
        tally.failures[-1]["input"] = str(given.folder / "kept" / f"inputs-{len(tally.failures)}-{file.name}")
        pathlib.Path(tally.failures[-1]["input"]).parent.mkdir(exist_ok=True)
        pathlib.Path(tally.failures[-1]["input"]).write_bytes(damaged)
        tally.failures[-1]["command"] = [str(w) for w in command]


def attack_words(given, tally):
    """Values of options on the command line."""
    words = [given.program, "check", *TINY, "--train-iters", "4"]
    at = random.choice([i for i, w in enumerate(words) if i > 2 and not str(w).startswith("--")])
    words[at] = mutate(str(words[at]).encode())[:100_000].replace(b"\0", b"0") or b"0"
    outcome = run([w.decode("utf-8", "surrogateescape") if isinstance(w, bytes) else w for w in words], given.folder)
    tally.tried("values of options", outcome)
    if outcome.trouble():
        tally.failures[-1]["command"] = [repr(w) for w in words]


def main():
    given = options(__doc__, 5000)
    random.seed(given.seed)
    tally = Tally(given, "inputs")
    base = fresh(given.folder / "base")
    rows = [row for row in kinds(given, base) if given.only in row.name]
    for row in rows:  # what is refused undamaged would be attacked in vain
        for command in row.commands:
            copy = given.folder / "copy"
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(base, copy)
            must(run([given.program, *command], copy), f"{row.name}, undamaged: {' '.join(map(str, command))}")
    for i in range(given.tries):
        if i % (len(rows) + 1) == len(rows):
            attack_words(given, tally)
        else:
            attack_files(given, tally, base, rows[i % (len(rows) + 1)], i // (len(rows) + 1))
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())
