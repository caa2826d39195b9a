#!/usr/bin/env python3
"""Writes what run.sh measures: documents of three tasks, the harness's task files for them, a tokenizer and a corpus to train on.
usage: make_tasks.py OUR_TASKS FOLDER MPITRON"""
import json
import pathlib
import random
import subprocess
import sys

import tokenizers
import yaml

NAMES = ["map", "lantern", "kettle", "basket", "violin", "ladder", "compass", "bell"]
PLACES = ["harbour", "mill", "tower", "market", "library", "orchard"]
DEEDS = ["cleaned", "carried", "repaired", "painted", "lost", "found"]


def sentence(draw):
    return f"Mara {draw.choice(DEEDS)} the {draw.choice(NAMES)} near the {draw.choice(PLACES)}."


def piqa(draw):
    return {"goal": f"Where was the {draw.choice(NAMES)}?", "sol1": f"near the {draw.choice(PLACES)}",
            "sol2": f"the {draw.choice(NAMES)} was in a box", "label": draw.randrange(2)}


def hellaswag(draw):
    return {"activity_label": "Tales", "ctx_a": sentence(draw), "ctx_b": "then she", "label": str(draw.randrange(4)),
            "endings": [f"{deed} [step] a {draw.choice(NAMES)} . Number {i}" for i, deed in enumerate(draw.sample(DEEDS, 4))]}


def winogrande(draw):
    a, b = draw.sample(NAMES, 2)
    return {"sentence": f"Mara took the {a} and left the {b}, because the _ was near the {draw.choice(PLACES)}.",
            "option1": a, "option2": b, "answer": str(draw.randrange(1, 3))}


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def train_tokenizer(folder, texts):
    made = tokenizers.ByteLevelBPETokenizer()
    made.train_from_iterator(texts, vocab_size=400, special_tokens=["<|endoftext|>"], show_progress=False)
    (folder / "tokenizer").mkdir()
    made.save(str(folder / "tokenizer" / "tokenizer.json"))
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|endoftext|>", "bos_token": "<|endoftext|>",
              "model_max_length": 128}
    (folder / "tokenizer" / "tokenizer_config.json").write_text(json.dumps(config))


def main():
    ours, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    (folder / "harness").mkdir()
    for make in (piqa, hellaswag, winogrande):
        name = make.__name__
        draw = random.Random(name)
        write_lines(folder / f"{name}.jsonl", [make(draw) for _ in range(60)])
        write_lines(folder / f"{name}-train.jsonl", [make(draw) for _ in range(30)])
        task = yaml.safe_load((ours / f"{name}.yaml").read_text())
        clean = task.pop("clean", None)
        task.update(task=f"{name}_here", dataset_path="json", test_split="test", training_split="train", fewshot_split="train",
                    output_type="multiple_choice",
                    dataset_kwargs={"data_files": {"test": str((folder / f"{name}.jsonl").resolve()),
                                                   "train": str((folder / f"{name}-train.jsonl").resolve())}},
                    metric_list=[{"metric": m, "aggregation": "mean", "higher_is_better": True} for m in ("acc", "acc_norm")])
        text = yaml.safe_dump(task)
        if clean:  # the harness's own function, which makes `query` and `choices`
            text += "process_docs: !function cleaned.process_docs\n"
            text = text.replace(f"doc_to_choice: {task['doc_to_choice']}", "doc_to_choice: choices")
            text = "\n".join("doc_to_text: '{{query}}'" if line.startswith("doc_to_text:") else line for line in text.splitlines())
            (folder / "harness" / "cleaned.py").write_text("from lm_eval.tasks.hellaswag.utils import process_docs\n")
        (folder / "harness" / f"{name}.yaml").write_text(text)
    draw = random.Random("text")
    texts = [" ".join(sentence(draw) for _ in range(6)) for _ in range(300)]
    write_lines(folder / "text.jsonl", [{"text": text} for text in texts])
    train_tokenizer(folder, texts + [json.dumps(piqa(draw)) for _ in range(50)])
    subprocess.run([sys.argv[3], "preprocess", "--input", "text.jsonl", "--output-prefix", "text", "--append-eod", "--tokenizer-type",
                    "HuggingFaceTokenizer", "--tokenizer-model", "tokenizer"], check=True, cwd=folder, stdout=subprocess.DEVNULL)


main()
