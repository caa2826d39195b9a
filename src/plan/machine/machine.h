#pragma once
#include <array>
#include <string>

#include "plan/model/layout.h"

namespace mpitron::plan {

/// What runs reach of a data sheet's rates.
struct Calibration {
  double share_16 = 0;
  double share_fp8 = 0;
  double share_mxfp8 = 0;
  double share_nvfp4 = 0;
  double half_depth = 0;  // of a product: depth k at which half of the rate is reached
  double memory_share = 0;
  double attention_forward = 0;  // share of peak_16
  double attention_backward = 0;
  double attention_half = 0;  // sequence at which half of these is reached
  double link_share = 0;
  double network_share = 0;
  double jitter = 0;  // longer step a doubling of 8 GPUs
};

/// GPUs, nodes and network. Rates per second and GPU, one direction.
struct Machine : Calibration {
  std::string name;
  double peak_16 = 0;  // operations of bf16 and fp16
  double peak_8 = 0;
  double peak_4 = 0;
  double memory = 0;        // bytes
  double fixed_memory = 0;  // of libraries and communicators, bytes
  double memory_bandwidth = 0;
  double multiprocessors = 0;
  double power_idle = 0;  // watts
  double power_max = 0;
  double node_gpus = 0;  // that reach each other by links
  double link_bandwidth = 0;
  double link_latency = 0;
  double network_bandwidth = 0;
  double network_latency = 0;

  double product_rate(Precision precision) const;
};

/// Shares of traffic that software hides behind products.
struct Overlaps {
  double tensor_overlap = 0;
  double context_overlap = 0;
  double data_overlap = 0;
  double full_sharding_overlap = 0;
  double pipeline_overlap = 0;
  double expert_overlap = 0;
};

/// What software adds or hides.
struct Stack : Overlaps {
  std::string name;
  double elementwise = 1;        // bytes moved beside products, over those of fused kernels
  double per_step = 0.03;        // seconds
  double per_microbatch = 0;     // seconds of a stage
  double per_layer = 0;          // seconds of a layer's forward pass; twice that backward
  double attention = 1;          // time, over that of the machine's rates
  double products = 1;           // time, over that of the machine's rates
  double sharding_traffic = 1;   // time, over that of the network for the same bytes
  double expert_exchange = 0;    // seconds of an exchange beside its bytes
  double expert_bytes = 2;       // of an element sent to an expert
  double grouped = 1;            // time of experts' products, over one product of all their rows
  double quantise = 2.5;         // bytes moved for an element that becomes 8 bits wide
  double unfused_attention = 0;  // 1: scores are written to memory
  double odd_heads = 4;          // time of unfused attention with heads not a multiple of 8 wide
  double imbalance = 1;          // slowest over average stage
  double recompute = 1;  // layers recomputed where a table does not say, over those it takes to fit
};

}  // namespace mpitron::plan
