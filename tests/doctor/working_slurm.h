#pragma once

#include <gtest/gtest.h>

#include "doctor/slurm_check.h"

// A Slurm that works, and what a check says of it.

namespace mpitron::doctor {

inline const launch::MpiLibrary kDebian{.version = "Open MPI v4.1.4", .knows_pmi = false};
inline constexpr const char* kList =
    "MPI plugin types are...\n\tpmix\n\tnone\n\tpmi2\n"
    "specific pmix plugin versions available: pmix_v4\n";
inline constexpr const char* kConfiguration =
    "Configuration data as of 2026-11-22T15:00:00\n"
    "AuthInfo                = socket=/tmp/x/munge.sock,cred_expire=5\n"
    "AuthType                = auth/munge\n"
    "ClusterName             = tiny\n"
    "MpiDefault              = pmix\n"
    "MpiParams               = (null)\n"
    "SLURM_VERSION           = 22.05.8\n";

inline SlurmFacts working() {
  SlurmFacts facts;
  facts.is_there = true;
  facts.mpi_list = kList;
  facts.configuration = kConfiguration;
  facts.munge_answers = true;
  return facts;
}

inline CheckResult of(const SlurmFacts& facts, const std::string& name,
                      const launch::Environment& environment = {}) {
  for (const CheckResult& result : check_slurm(facts, environment, kDebian)) {
    if (result.name == name) {
      return result;
    }
  }
  ADD_FAILURE() << "no result " << name;
  return {};
}

}  // namespace mpitron::doctor
