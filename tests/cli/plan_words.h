#pragma once
#include "cli/tiny_run.h"

namespace mpitron::test {

/// What `mpitron` with these words says, in a folder of its own.
inline Finished run_alone(const Words& words) {
  const TemporaryFolder folder;
  return run_program(folder.path(), words);
}

/// `mpitron plan` of a small model on two stages of two tensor ranks.
inline const Words kPlan = {"plan",
                            "--num-layers",
                            "8",
                            "--hidden-size",
                            "64",
                            "--num-attention-heads",
                            "8",
                            "--seq-length",
                            "64",
                            "--max-position-embeddings",
                            "64",
                            "--micro-batch-size",
                            "1",
                            "--global-batch-size",
                            "16",
                            "--train-iters",
                            "10",
                            "--lr",
                            "1e-3",
                            "--tokenizer-type",
                            "NullTokenizer",
                            "--vocab-size",
                            "63",
                            "--mock-data",
                            "--tensor-model-parallel-size",
                            "2",
                            "--pipeline-model-parallel-size",
                            "2"};

}  // namespace mpitron::test
