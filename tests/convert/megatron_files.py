#!/usr/bin/env python3
"""Writes the folders torch, dist, torch_hybrid and dist_hybrid: checkpoints as Megatron-Core 0.14 lays them out, without torch.

usage: megatron_files.py FOLDER

The pickles come from Python's own pickler over stand-ins for torch's classes, the archives from Python's zipfile. A
GPT of 4 layers on 2 tensor ranks, 2 pipeline stages and 2 chunks per stage, and a hybrid M*- on 2 tensor ranks. Weights are the function of name and
index in reference_logits.py, over the whole tensors under Megatron's names of the local specification.
The arguments hold an object whose unpickling would create the file EXECUTED: a reader must not.
"""
import argparse
import collections
import enum
import io
import math
import os
import pickle
import struct
import sys
import types
import zipfile

from reference_logits import element

HIDDEN, HEADS, GROUPS, FFN, VOCAB, LAYERS, TP, PP, VPP = 8, 4, 2, 12, 24, 4, 2, 2, 2
HEAD = HIDDEN // HEADS


def stand_in(module, name, **members):
    """A class that pickles under a name of torch's."""
    for i in range(1, module.count(".") + 2):
        sys.modules.setdefault(".".join(module.split(".")[:i]), types.ModuleType(module))
    made = type(name, (), dict(members, __module__=module, __qualname__=name))
    setattr(sys.modules[module], name, made)
    return made


def rebuild_tensor(*_):
    raise NotImplementedError


rebuild_tensor.__module__, rebuild_tensor.__qualname__ = "torch._utils", "_rebuild_tensor_v2"
FloatStorage = stand_in("torch", "FloatStorage")
Size = type("Size", (tuple,), {"__module__": "torch", "__qualname__": "Size", "__reduce__": lambda self: (Size, (tuple(self),))})
sys.modules["torch"].Size = Size
stand_in("torch._utils", "unused")
sys.modules["torch._utils"]._rebuild_tensor_v2 = rebuild_tensor
METADATA = "torch.distributed.checkpoint.metadata"
Metadata, TensorStorageMetadata, ChunkStorageMetadata, MetadataIndex, BytesStorageMetadata = (
    stand_in(METADATA, name) for name in
    ("Metadata", "TensorStorageMetadata", "ChunkStorageMetadata", "MetadataIndex", "BytesStorageMetadata"))
StorageInfo = stand_in("torch.distributed.checkpoint.filesystem", "_StorageInfo")


class Dtype:
    def __reduce__(self):
        return "float32"


Dtype.__module__ = "torch"
FLOAT32 = sys.modules["torch"].float32 = Dtype()
TensorProperties = stand_in(METADATA, "TensorProperties", __getstate__=lambda self: (FLOAT32, None, False, None, False),
                            __setstate__=lambda self, state: None)


class ModelType(enum.Enum):
    encoder_or_decoder = 1


ModelType.__module__ = "megatron.core.enums"
stand_in("megatron.core.enums", "unused")
sys.modules["megatron.core.enums"].ModelType = ModelType


class Hostile:
    def __reduce__(self):
        return (os.system, ("touch EXECUTED",))


def filled(made, **members):
    value = made()
    value.__dict__.update(members)
    return value


class Tensor:
    """Rows and columns of numbers; or a view of another's storage."""

    def __init__(self, shape, numbers):
        self.shape, self.numbers = list(shape), list(numbers)

    def __reduce__(self):
        strides = [math.prod(self.shape[i + 1:]) for i in range(len(self.shape))]
        return (rebuild_tensor, (self.numbers_storage(), 0, tuple(self.shape), tuple(strides), False, collections.OrderedDict()))

    def numbers_storage(self):
        self.storage = Storage(self.numbers)
        return self.storage


class Storage:
    def __init__(self, numbers):
        self.numbers = numbers


def torch_save(value, out):
    storages = []

    class Pickler(pickle.Pickler):
        def persistent_id(self, item):
            if not isinstance(item, Storage):
                return None
            storages.append(item)
            return ("storage", FloatStorage, str(len(storages) - 1), "cpu", len(item.numbers))

    text = io.BytesIO()
    Pickler(text, 2).dump(value)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        def entry(name, data):
            archive.writestr(zipfile.ZipInfo("archive/" + name), data)
        entry("data.pkl", text.getvalue())
        entry("byteorder", b"little")
        for i, storage in enumerate(storages):
            entry(f"data/{i}", struct.pack(f"<{len(storage.numbers)}f", *storage.numbers))
        entry("version", b"3\n")


MIXER = {"heads": 4, "head_dim": 4, "groups": 2, "state": 3}
WIDTH, BOTH = MIXER["heads"] * MIXER["head_dim"], MIXER["groups"] * MIXER["state"]
CHANNELS = {"x": WIDTH, "B": BOTH, "C": BOTH}
PROJECTED = {"z": WIDTH} | CHANNELS | {"dt": MIXER["heads"]}


def hybrid_parameters():
    """The same of letters M, * and -; a division may name the parts of the rows, each cut by itself."""
    at, qkv = "decoder.layers.", (HEADS + 2 * GROUPS) * HEAD
    return {"embedding.word_embeddings.weight": ([VOCAB, HIDDEN], "rows"),
            at + "0.norm.weight": ([HIDDEN], "whole"),
            at + "0.mixer.in_proj.weight": ([sum(PROJECTED.values()), HIDDEN], PROJECTED),
            at + "0.mixer.conv1d.weight": ([sum(CHANNELS.values()), 1, 4], CHANNELS),
            at + "0.mixer.conv1d.bias": ([sum(CHANNELS.values())], CHANNELS),
            at + "0.mixer.dt_bias": ([MIXER["heads"]], "rows"),
            at + "0.mixer.A_log": ([MIXER["heads"]], "rows"),
            at + "0.mixer.D": ([MIXER["heads"]], "rows"),
            at + "0.mixer.norm.weight": ([WIDTH], "rows"),
            at + "0.mixer.out_proj.weight": ([HIDDEN, WIDTH], "columns"),
            at + "1.input_layernorm.weight": ([HIDDEN], "whole"),
            at + "1.self_attention.linear_proj.weight": ([HIDDEN, HEADS * HEAD], "columns"),
            at + "1.self_attention.linear_qkv.weight": ([qkv, HIDDEN], "rows"),
            at + "2.pre_mlp_layernorm.weight": ([HIDDEN], "whole"),
            at + "2.mlp.linear_fc1.weight": ([FFN, HIDDEN], "rows"),
            at + "2.mlp.linear_fc2.weight": ([HIDDEN, FFN], "columns"),
            "decoder.final_norm.weight": ([HIDDEN], "whole"),
            "output_layer.weight": ([VOCAB, HIDDEN], "rows")}


def parameters():
    """Name -> (shape, how tensor ranks divide it)."""
    result = {"embedding.word_embeddings.weight": ([VOCAB, HIDDEN], "rows")}
    for layer in range(LAYERS):
        at = f"decoder.layers.{layer}."
        qkv = (HEADS + 2 * GROUPS) * HEAD
        result[at + "input_layernorm.weight"] = ([HIDDEN], "whole")
        result[at + "self_attention.linear_proj.weight"] = ([HIDDEN, HEADS * HEAD], "columns")
        result[at + "self_attention.linear_qkv.weight"] = ([qkv, HIDDEN], "rows")
        result[at + "self_attention.linear_qkv.bias"] = ([qkv], "rows")
        result[at + "pre_mlp_layernorm.weight"] = ([HIDDEN], "whole")
        result[at + "mlp.linear_fc1.weight"] = ([2 * FFN, HIDDEN], "gated")
        result[at + "mlp.linear_fc2.weight"] = ([HIDDEN, FFN], "columns")
    result["decoder.final_layernorm.weight"] = ([HIDDEN], "whole")
    result["output_layer.weight"] = ([VOCAB, HIDDEN], "rows")
    return result


def whole(name, shape):
    return Tensor(shape, [element(name, i) for i in range(math.prod(shape))])


def rows_of(tensor, first, last):
    columns = math.prod(tensor.shape[1:])
    return tensor.numbers[first * columns:last * columns]


def shard(tensor, division, rank):
    if division == "whole":
        return tensor
    if division == "columns":
        rows, columns = tensor.shape
        width = columns // TP
        return Tensor([rows, width], [tensor.numbers[i * columns + rank * width + j] for i in range(rows) for j in range(width)])
    count = tensor.shape[0] // TP
    if division == "rows":
        return Tensor([count] + tensor.shape[1:], rows_of(tensor, rank * count, (rank + 1) * count))
    numbers, first = [], 0
    for size in [tensor.shape[0] // 2] * 2 if division == "gated" else division.values():
        numbers += rows_of(tensor, first + rank * size // TP, first + (rank + 1) * size // TP)
        first += size
    return Tensor([count] + tensor.shape[1:], numbers)


def arguments():
    return argparse.Namespace(
        num_layers=LAYERS, hidden_size=HIDDEN, num_attention_heads=HEADS, group_query_attention=True, num_query_groups=GROUPS,
        ffn_hidden_size=FFN, kv_channels=HEAD, max_position_embeddings=32, position_embedding_type="rope", rotary_base=10000,
        rotary_percent=1.0, normalization="RMSNorm", norm_epsilon=1e-6, swiglu=True, add_bias_linear=False, add_qkv_bias=True,
        untie_embeddings_and_output_weights=True, tokenizer_type="NullTokenizer", vocab_size=20, padded_vocab_size=VOCAB,
        make_vocab_size_divisible_by=4, bf16=False, fp16=False, params_dtype=FLOAT32, data_path=["a", "b"], lr=None,
        consumed_train_samples=640, model_type=ModelType.encoder_or_decoder, hostile=Hostile())


def hybrid_arguments():
    """The reference's program does not say that it was pretrain_mamba.py, and names learned positions that there are none of."""
    result = vars(arguments()) | {
        "num_layers": 3, "hybrid_override_pattern": "M*-", "hybrid_attention_ratio": 0.0, "hybrid_mlp_ratio": 0.0, "is_hybrid_model": True,
        "spec": ["megatron.core.models.mamba.mamba_layer_specs", "mamba_stack_spec"], "mamba_state_dim": MIXER["state"],
        "mamba_head_dim": MIXER["head_dim"], "mamba_num_groups": MIXER["groups"], "mamba_num_heads": MIXER["heads"], "swiglu": False,
        "squared_relu": True, "position_embedding_type": "learned_absolute", "add_qkv_bias": False, "norm_epsilon": 1e-5}
    return argparse.Namespace(**result)


def fused(name):
    """As Transformer Engine has it: norms belong to the linear layer behind them."""
    return (name.replace("input_layernorm.", "self_attention.linear_qkv.layer_norm_")
            .replace("pre_mlp_layernorm.", "mlp.linear_fc1.layer_norm_")
            .replace(".0.norm.", ".0.mixer.in_proj.layer_norm_"))


def write_torch(folder):
    per_chunk = LAYERS // (PP * VPP)
    for rank in range(TP):
        for stage in range(PP):
            state = {"args": arguments(), "checkpoint_version": 3.0, "iteration": 5}
            for chunk in range(VPP):
                first = (chunk * PP + stage) * per_chunk
                model = collections.OrderedDict()
                for name, (shape, division) in parameters().items():
                    local = name
                    if name.startswith("decoder.layers."):
                        layer, rest = name[len("decoder.layers."):].split(".", 1)
                        if not first <= int(layer) < first + per_chunk:
                            continue
                        local = f"decoder.layers.{int(layer) - first}.{rest}"
                    elif name.startswith("embedding") != (stage == 0 and chunk == 0) and not name.startswith(("decoder.final", "output")):
                        continue
                    elif name.startswith(("decoder.final", "output")) and not (stage == PP - 1 and chunk == VPP - 1):
                        continue
                    model[fused(local)] = shard(whole(name, shape), division, rank)
                    if name.endswith("linear_qkv.weight"):
                        model[local.replace("weight", "_extra_state")] = None
                state[f"model{chunk}"] = model
            path = os.path.join(folder, "iter_0000005", f"mp_rank_{rank:02}_{stage:03}")
            os.makedirs(path, exist_ok=True)
            torch_save(state, os.path.join(path, "model_optim_rng.pt"))
    with open(os.path.join(folder, "latest_checkpointed_iteration.txt"), "w", encoding="ascii") as f:
        f.write("5")


def write_torch_hybrid(folder):
    """One stage without chunks."""
    for rank in range(TP):
        model = {fused(name): shard(whole(name, shape), division, rank) for name, (shape, division) in hybrid_parameters().items()}
        path = os.path.join(folder, "iter_0000003", f"mp_rank_{rank:02}")
        os.makedirs(path, exist_ok=True)
        torch_save({"args": hybrid_arguments(), "checkpoint_version": 3.0, "iteration": 3, "model": model},
                   os.path.join(path, "model_optim_rng.pt"))
    with open(os.path.join(folder, "latest_checkpointed_iteration.txt"), "w", encoding="ascii") as f:
        f.write("3")


def chunks_of(name, shape, division):
    """(offset, size, numbers) of what each tensor rank saves; the halves of a gated layer are pieces of their own."""
    tensor = whole(name, shape)
    if division == "whole":
        return [([0] * len(shape), shape, tensor.numbers)]
    result = []
    for rank in range(TP):
        if division == "columns":
            part = shard(tensor, division, rank)
            result.append(([0, rank * part.shape[1]], part.shape, part.numbers))
        else:
            for half in range(2 if division == "gated" else 1):
                count = shape[0] // TP // (2 if division == "gated" else 1)
                first = half * shape[0] // 2 + rank * count
                result.append(([first] + [0] * (len(shape) - 1), [count] + shape[1:], rows_of(tensor, first, first + count)))
    return result


def write_dist(folder, parameters, arguments):
    """Layers that differ keep their numbers; parts of rows have keys of their own."""
    path = os.path.join(folder, "iter_0000007")
    os.makedirs(path, exist_ok=True)
    files = [open(os.path.join(path, f"__{rank}_0.distcp"), "wb") for rank in range(2)]
    tensors, storage, turn = {}, {}, 0

    def add(key, size, chunks, divided):
        nonlocal turn
        for offset, extents, numbers in chunks:
            entry = tensors.setdefault(key, filled(TensorStorageMetadata, properties=TensorProperties(), size=Size(size), chunks=[]))
            entry.chunks.append(filled(ChunkStorageMetadata, offsets=Size(offset), sizes=Size(extents)))
            turn = (turn + 1) % 2 if divided else 0
            data = io.BytesIO()
            torch_save(Tensor(extents, numbers), data)
            out = files[turn]
            storage[filled(MetadataIndex, fqn=key, offset=Size(offset), index=None)] = filled(
                StorageInfo, relative_path=os.path.basename(out.name), offset=out.tell(), length=len(data.getvalue()))
            out.write(data.getvalue())

    for name, (shape, division) in parameters().items():
        if isinstance(division, dict):
            first = 0
            for part, size in division.items():
                numbers = rows_of(whole(name, shape), first, first + size)
                half, first = len(numbers) // 2, first + size
                add(f"{name}.{part}", [size] + shape[1:],
                    [([rank * size // 2] + [0] * (len(shape) - 1), [size // 2] + shape[1:], numbers[rank * half:(rank + 1) * half])
                     for rank in range(TP)], True)
            continue
        chunks = chunks_of(name, shape, division)
        if parameters is hybrid_parameters:
            add(fused(name), shape, chunks, True)
        elif name.startswith("decoder.layers."):
            layer, rest = name[len("decoder.layers."):].split(".", 1)
            add(fused("decoder.layers." + rest), [LAYERS] + shape, [([int(layer)] + o, [1] + s, n) for o, s, n in chunks], True)
        else:
            add(name, shape, chunks, False)
    add("optimizer.state.exp_avg.output_layer.weight", [2], [([0], [2], [0.5, 0.25])], False)
    tensors["rng_state"] = BytesStorageMetadata()
    for out in files:
        out.close()
    with open(os.path.join(path, ".metadata"), "wb") as f:
        pickle.dump(filled(Metadata, state_dict_metadata=tensors, planner_data=None, storage_data=storage, storage_meta=None), f)
    torch_save({"args": arguments(), "iteration": 7, "checkpoint_version": 3.0}, os.path.join(path, "common.pt"))
    with open(os.path.join(path, "metadata.json"), "w", encoding="ascii") as f:
        f.write('{"sharded_backend": "torch_dist", "sharded_backend_version": 1}')
    with open(os.path.join(folder, "latest_checkpointed_iteration.txt"), "w", encoding="ascii") as f:
        f.write("7\n")


if __name__ == "__main__":
    write_torch(os.path.join(sys.argv[1], "torch"))
    write_torch_hybrid(os.path.join(sys.argv[1], "torch_hybrid"))
    write_dist(os.path.join(sys.argv[1], "dist"), parameters, arguments)
    write_dist(os.path.join(sys.argv[1], "dist_hybrid"), hybrid_parameters, hybrid_arguments)
