#!/usr/bin/env python3
"""What the compiler made of the kernels that a step waits for: registers, stack, wide accesses, products that overlap. Needs cuobjdump, no GPU.

    compiled_code_test.py CUOBJDUMP OBJECT...   checks objects that were compiled with optimisation
    compiled_code_test.py --faulty              checks that faulty code is found
"""
import re
import subprocess
import sys
from dataclasses import dataclass, field

SKIPPED = 77


@dataclass
class Kernel:
    """What cuobjdump tells of a kernel for one architecture."""
    name: str
    arch: str
    registers: int = 0
    stack: int = 0
    instructions: list = field(default_factory=list)

    def count(self, pattern):
        return sum(1 for text in self.instructions if re.search(pattern, text))


@dataclass
class Limit:
    """Of kernels whose names begin with `prefix`. The stack holds spilled registers and arrays."""
    prefix: str
    registers: int
    stack: int = 0
    loads: bool = True  # of 16 bytes
    stores: bool = True


# What nvcc 13.0 needs, rounded up to the eight registers that a multiprocessor hands out. They decide how many threads hide what memory takes: 64
# leave half of the most threads of a multiprocessor, 32 all.
LIMITS = [
    Limit("adam_packs", 64),
    Limit("adam_plain<", 64),
    Limit("attention_forward<", 256, stack=72, stores=False),
    Limit("attention_gradients<", 256, stack=24, stores=False),
    Limit("attention_wgmma<", 168, stack=16),
    Limit("attention_wgmma_gradients<", 168),
    Limit("bias_activation_backward<", 48),
    Limit("bias_activation_forward<", 40),
    Limit("bias_dropout_add<", 80),
    Limit("cross_entropy_rows<", 48, stores=False),
    Limit("dropout_backward<", 48),
    Limit("gated_activation_backward<", 56),
    Limit("gated_activation_forward<", 40),
    Limit("gradient_rows<", 48),
    Limit("look_up<", 32),
    Limit("norm_backward_narrow<", 128),
    Limit("norm_backward_rows<", 128),
    Limit("norm_narrow_rows<", 64),
    Limit("norm_rows<", 88),
    Limit("packed_product<EightBitSteps, 1>", 64, stores=False),
    Limit("packed_product<EightBitSteps, 2>", 128, stores=False),
    Limit("packed_product<EightBitSteps, 4>", 128, stores=False),
    Limit("packed_product<FourBitSteps, 1>", 64, stores=False),
    Limit("packed_product<FourBitSteps, 2>", 128, stores=False),
    Limit("packed_product<FourBitSteps, 4>", 128, stores=False),
    Limit("permute_rows<", 32),
    Limit("quantize<", 32, stores=False),
    Limit("quantize_transposed<", 80),
    Limit("rotate<", 48),
    Limit("round_rows<", 32, stores=False),
    Limit("scale_rows<", 32),
    Limit("sum_columns<float, 8>", 56, stores=False),
    Limit("sum_columns<__nv_bfloat16, 8>", 56, stores=False),
    Limit("sum_squares<", 64, stores=False),
]
# Of each thread of three warpgroups at the launch: 24 and twice 240 are as many (attention_wgmma_forward.cu).
REGISTERS_TO_EXCHANGE = 168


def kernels_of(usage, code):
    """The kernels in what --dump-resource-usage and -sass print."""
    found, arch, name = {}, "", ""
    for line in usage.splitlines():
        if match := re.match(r"arch = (\w+)", line):
            arch = match[1]
        elif match := re.match(r"\s*Function (\w+):", line):
            name = match[1]
        elif match := re.match(r"\s*REG:(\d+) STACK:(\d+)", line):
            found[arch, name] = Kernel(name, arch, int(match[1]), int(match[2]))
    kernel = None
    for line in code.splitlines():
        if match := re.match(r"\s*code for (\w+)", line):
            arch = match[1]
        elif match := re.match(r"\s*Function : (\w+)", line):
            kernel = found.get((arch, match[1]))
        elif kernel and (match := re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;", line)):
            kernel.instructions.append(match[1])
    return list(found.values())


def plain_name(demangled):
    """Name and template arguments, without namespaces and parameters."""
    text = re.sub(r"\(anonymous namespace\)::|\b\w+::", "", re.sub(r"\([^()]*\)(?=[0-9])", "", demangled))
    return text.removeprefix("void ").split("(")[0]


def faults_of(kernel, name):
    """Sentences on what is wrong with a kernel."""
    faults = []
    products, waits = kernel.count(r"\bHGMMA"), kernel.count(r"WARPGROUP\.DEPBAR")
    if products and 2 * waits > products:
        faults.append(f"waits {waits} times for {products} products: they no longer overlap")
    if kernel.count(r"\bUSETMAXREG") and kernel.registers != REGISTERS_TO_EXCHANGE:
        faults.append(f"{kernel.registers} registers at the launch, not {REGISTERS_TO_EXCHANGE}: warpgroups wait for ever for what nobody has")
    for limit in (x for x in LIMITS if name.startswith(x.prefix)):
        if kernel.registers > limit.registers:
            faults.append(f"{kernel.registers} registers, at most {limit.registers}")
        if kernel.stack > limit.stack:
            faults.append(f"{kernel.stack} bytes of stack, at most {limit.stack}")
        if limit.loads and not kernel.count(r"\bLD\S*\.128|\bUTMALDG"):
            faults.append("no loads of 16 bytes")
        if limit.stores and not kernel.count(r"\bST\S*\.128"):
            faults.append("no stores of 16 bytes")
    return faults


def output_of(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def check_objects(cuobjdump, objects):
    faults, checked = [], set()
    for path in objects:
        kernels = kernels_of(output_of(cuobjdump, "--dump-resource-usage", path), output_of(cuobjdump, "-sass", path))
        names = output_of("c++filt", text="\n".join(k.name for k in kernels)).splitlines()
        for kernel, name in zip(kernels, map(plain_name, names)):
            if kernel.arch and not kernel.arch.startswith("sm_90"):
                continue  # the limits are those of Hopper
            checked |= {x.prefix for x in LIMITS if name.startswith(x.prefix)}
            faults += [f"{name}: {fault}" for fault in faults_of(kernel, name)]
    faults += [f"no kernel is called {x.prefix}" for x in LIMITS if x.prefix not in checked]
    print("\n".join(faults) or f"{len(checked)} sorts of kernels as they should be")
    return 1 if faults else 0


def check_faulty_code():
    """Each kind of fault is found, and sound code has none."""
    usage = "arch = sm_90a\n Function _Z1k:\n  REG:%d STACK:%d SHARED:0\n"
    code = "\tcode for sm_90a\n\t\tFunction : _Z1k\n%s"
    wide = ["LDG.E.128 R4, desc[UR4][R2.64]", "ST.E.128 desc[UR4][R2.64], R4"]
    overlapped = ["HGMMA.64x128x16.F32.BF16 R24, gdesc[UR16], R24, gsb0"] * 8 + ["WARPGROUP.DEPBAR.LE gsb0, 0x0"]

    def faults(name, registers, stack, instructions):
        text = "".join(f"        /*{16 * i:04x}*/                   {x} ;\n" for i, x in enumerate(instructions))
        (kernel,) = kernels_of(usage % (registers, stack), code % text)
        return len(faults_of(kernel, name))

    hot = LIMITS[0]
    results = [
        (faults(hot.prefix, hot.registers, hot.stack, wide), 0),
        (faults(hot.prefix, hot.registers + 1, hot.stack, wide), 1),
        (faults(hot.prefix, hot.registers, hot.stack + 8, wide), 1),
        (faults(hot.prefix, hot.registers, hot.stack, wide[:1]), 1),
        (faults(hot.prefix, hot.registers, hot.stack, wide[1:]), 1),
        (faults("k", 168, 0, overlapped), 0),
        (faults("k", 168, 0, overlapped[:1] + overlapped[-1:]), 1),
        (faults("k", 168, 0, ["USETMAXREG.DEALLOC.CTAPOOL 0x18"]), 0),
        (faults("k", 160, 0, ["USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xf0"]), 1),
        (plain_name("void mpitron::kernels::(anonymous namespace)::rotate<__half, true>(int)"), "rotate<__half, true>"),
    ]
    wrong = [i for i, (got, wanted) in enumerate(results) if got != wanted]
    print(f"wrong answers: {wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--faulty"]:
        sys.exit(check_faulty_code())
    if "NOTFOUND" in sys.argv[1]:
        print("no cuobjdump beside nvcc: nothing was checked")
        sys.exit(SKIPPED)
    sys.exit(check_objects(sys.argv[1], sys.argv[2:]))
