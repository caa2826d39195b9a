#include "io/logs/prometheus_text.h"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

namespace mpitron::io {
namespace prometheus_text_test {

TEST(PrometheusText, FollowsTheFormat) {
  const std::array metrics{PrometheusMetric{"a_loss", "the loss", 2.5},
                           PrometheusMetric{"b_total", "a \\ and\na line", 1e15, true}};
  EXPECT_EQ(
      prometheus_text(metrics),
      "# HELP a_loss the loss\n# TYPE a_loss gauge\na_loss 2.5\n"
      "# HELP b_total a \\\\ and\\na line\n# TYPE b_total counter\nb_total 1000000000000000\n");
  EXPECT_EQ(prometheus_text({}), "");
}

TEST(PrometheusText, WritesWhatIsNotFinite) {
  const std::array metrics{PrometheusMetric{"a", "", NAN}, PrometheusMetric{"b", "", INFINITY},
                           PrometheusMetric{"c", "", -INFINITY}};
  const std::string text = prometheus_text(metrics);
  EXPECT_NE(text.find("\na NaN\n"), std::string::npos);
  EXPECT_NE(text.find("\nb +Inf\n"), std::string::npos);
  EXPECT_NE(text.find("\nc -Inf\n"), std::string::npos);
}

}  // namespace prometheus_text_test
}  // namespace mpitron::io
