#!/usr/bin/env python3
"""PEFT itself loads an adapter that `mpitron adapter` wrote: its logits on the base beside those of the model that mpitron merged.
usage: peft_check.py BASE ADAPTER MERGED"""
import sys

import peft
import torch
import transformers


def logits(model, ids):
    with torch.no_grad():
        return model(ids).logits


def main():
    base_path, adapter_path, merged_path = sys.argv[1:4]
    load = lambda path: transformers.AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32).eval()  # noqa: E731
    ids = torch.randint(0, 300, (2, 48), generator=torch.Generator().manual_seed(1))
    plain = logits(load(base_path), ids)
    adapted = logits(peft.PeftModel.from_pretrained(load(base_path), adapter_path), ids)
    merged = logits(load(merged_path), ids)
    moved, apart = (adapted - plain).abs().max().item(), (adapted - merged).abs().max().item()
    print(f"adapter moves logits by {moved:.2e}; PEFT's differ from those of our merged model by {apart:.2e} (allowed 2e-5)")
    sys.exit(not (moved > 1e-3 and apart < 2e-5))


main()
