#pragma once
#include <memory>
#include <string>

#include "plan/machine/measured_costs.h"
#include "plan/model/job.h"

namespace mpitron::plan {

// Rates are per second and GPU, of links in one direction.

/// A GPU by its data sheet.
struct Processor {
  double peak_16 = 0;  // operations of bf16 and fp16
  double peak_8 = 0;
  double peak_4 = 0;
  double memory = 0;        // bytes
  double fixed_memory = 0;  // of libraries and communicators, bytes
  double memory_bandwidth = 0;
  double multiprocessors = 0;
  double power_idle = 0;  // watts
  double power_max = 0;
};

/// Links and network between GPUs.
struct Links {
  double node_gpus = 0;  // that reach each other by links
  double link_bandwidth = 0;
  double link_latency = 0;
  double network_bandwidth = 0;
  double network_latency = 0;
};

/// Shares of the data sheet that runs reach; fitted to published steps.
struct Reached {
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

/// Costs of a job's start.
struct Services {
  double storage_read = 80e9;          // bytes a second, of the whole file system
  double open_seconds = 1e-3;          // of a file
  double metadata_rate = 20000;        // operations a second
  double task_seconds = 0.02;          // of the launcher for a node, one after the other
  double communicator_seconds = 0.5;   // of one, ...
  double communicator_doubling = 0.7;  // ... and more for each doubling of its ranks
  double communicator_memory = 60e6;   // bytes of one on each of its ranks
  double warm_up_seconds = 20;         // of the first step: graphs, kernels chosen
};

/// GPUs, nodes, network and services.
struct Machine : Processor, Links, Reached, Services {
  std::string name;
  // Measurements of `mpitron doctor --calibrate` on this machine: with them steps are replayed.
  std::shared_ptr<const MeasuredCosts> measured;

  /// Returns the operations a second that large products reach in this precision. Error(usage)
  /// where the GPU has none, or none was measured.
  double product_rate(Precision precision) const;
};

/// Costs of software's kernels, over what the machine's rates say.
struct KernelPractice {
  double elementwise = 1;        // bytes moved beside products, over those of fused kernels
  double launch = 0;             // seconds of the host for a kernel
  double waits_for_kernels = 0;  // 1: the host launches a kernel when the one before has ended
  double attention = 1;          // time
  double products = 1;           // time
  double grouped = 1;            // time of experts' products, over one product of all their rows
  double activation = 4;         // bytes of experts' activations in many kernels, over one's
  double quantise = 2.5;         // bytes moved for an element that becomes 8 bits wide
  double unfused_attention = 0;  // 1: scores are written to memory
  double odd_heads = 4;          // time of unfused attention with heads not a multiple of 8 wide
};

/// Shares of traffic that software hides behind work, and how it sends.
struct TrafficPractice {
  double tensor_overlap = 0;          // of what the next line does not hide
  double backward_tensor_hidden = 0;  // of the two operations that products of gradients can hide
  double context_overlap = 0;
  double data_overlap = 0;
  double full_sharding_overlap = 0;
  double pipeline_overlap = 0;
  double expert_overlap = 0;    // where tokens travel behind another microbatch
  double sharding_traffic = 1;  // time, over that of the network for the same bytes
  double expert_exchange = 0;   // seconds of an exchange beside its bytes
  double expert_bytes = 2;      // of an element sent to an expert
  double exchange_share = 1;    // of the rates of collectives, for tokens on their way
};

/// A training program, by what it adds to the machine's times or hides.
struct Stack : KernelPractice, TrafficPractice {
  std::string name;
  double per_step = 0.03;     // seconds
  double per_microbatch = 0;  // seconds of a stage
  double release = 1;         // whole step, over that of other releases
};

}  // namespace mpitron::plan
