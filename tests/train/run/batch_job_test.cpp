#include "train/run/batch_job.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "utils/error.h"

namespace mpitron::train {
namespace batch_job_test {

class BatchJob : public ::testing::Test {
 protected:
  ~BatchJob() override { ::unsetenv("SLURM_JOB_END_TIME"); }
};

TEST_F(BatchJob, EndsWhenTheEnvironmentSays) {
  ::unsetenv("SLURM_JOB_END_TIME");
  EXPECT_FALSE(batch_job_end());
  ::setenv("SLURM_JOB_END_TIME", "", 1);
  EXPECT_FALSE(batch_job_end());
  ::setenv("SLURM_JOB_END_TIME", "1700000000", 1);
  EXPECT_EQ(batch_job_end()->time_since_epoch(), std::chrono::seconds(1'700'000'000));
}

TEST_F(BatchJob, WhatIsNoTimeIsNamed) {
  for (const char* text : {"tomorrow", "17e8", "1700000000 "}) {
    ::setenv("SLURM_JOB_END_TIME", text, 1);
    EXPECT_THROW(batch_job_end(), Error) << text;
  }
}

}  // namespace batch_job_test
}  // namespace mpitron::train
