#pragma once

namespace mpitron::emulator {

/// Copies of 16 bytes that a thread of a block begins (PTX ISA, cp.async): the first `bytes` are
/// copied, the others become 0. They take place only when the thread waits for them, so that a
/// missing wait shows; until then their places hold NaN.
void begin_copy(void* shared, const void* global, int bytes);
/// Makes a group of the copies begun since the last one.
void commit_copies();
/// Waits until at most so many groups, the latest ones, are open.
void wait_for_copies(int open);

}  // namespace mpitron::emulator
