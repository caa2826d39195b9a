#pragma once
#include "cli/command.h"

namespace mpitron::cli {

/// One function for each sub-command. Each gets the words behind its name, prints results on rank 0
/// and returns the exit code, or throws Error.
int pretrain_gpt(const Arguments& arguments);
int pretrain_bert(const Arguments& arguments);
int pretrain_t5(const Arguments& arguments);
int pretrain_vision_classify(const Arguments& arguments);
int pretrain_vision_inpaint(const Arguments& arguments);
int pretrain_vision_dino(const Arguments& arguments);
int pretrain_vlm(const Arguments& arguments);
int pretrain_mamba(const Arguments& arguments);
int finetune(const Arguments& arguments);
int evaluate(const Arguments& arguments);
int preprocess(const Arguments& arguments);
int merge_datasets(const Arguments& arguments);
int clean(const Arguments& arguments);
int dedup(const Arguments& arguments);
int tokenize(const Arguments& arguments);
int tokenizer(const Arguments& arguments);
int data(const Arguments& arguments);
int data_report(const Arguments& arguments);
int data_trace(const Arguments& arguments);
int dataset(const Arguments& arguments);
int dataset_inspect(const Arguments& arguments);
int dataset_convert(const Arguments& arguments);
int dataset_images(const Arguments& arguments);
int draw_images(const Arguments& arguments);  // dataset images draw
int convert(const Arguments& arguments);
int adapter(const Arguments& arguments);
int parity(const Arguments& arguments);
int serve(const Arguments& arguments);
int chat(const Arguments& arguments);
int ask(const Arguments& arguments);
int generate(const Arguments& arguments);
int embed(const Arguments& arguments);
int plan(const Arguments& arguments);
int replay(const Arguments& arguments);
int replay_generation(const Arguments& arguments);  // replay --generation
int inspect(const Arguments& arguments);
int verify(const Arguments& arguments);
int trace(const Arguments& arguments);
int report(const Arguments& arguments);
int status(const Arguments& arguments);
int scaling(const Arguments& arguments);
int io_bench(const Arguments& arguments);
int doctor(const Arguments& arguments);
int job(const Arguments& arguments);
int job_write(const Arguments& arguments);
int check(const Arguments& arguments);
int configuration(const Arguments& arguments);
int explain(const Arguments& arguments);
int options(const Arguments& arguments);
int manual(const Arguments& arguments);
int version(const Arguments& arguments);

}  // namespace mpitron::cli
