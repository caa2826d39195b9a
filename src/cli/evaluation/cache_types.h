#pragma once
#include "cli/flags.h"
#include "kernels/attention/cached_numbers.h"
#include "kernels/state_space/state_types.h"

namespace mpitron::cli {

/// The options that say in which types generation keeps what it knows of a text: keys and values,
/// and states of layers that carry one.
struct CacheTypes {
  std::string keys_and_values = "auto";
  std::string conv = "auto", recurrence = "auto";  // of states

  void declare(Flags& flags);
  /// Takes them out of the words of a command that has no Flags. Error(usage) as Flags::parse.
  static CacheTypes take(Arguments& words);

  kernels::CacheType cache() const { return *kernels::cache_type(keys_and_values); }
  kernels::StateTypes states() const {
    return {.conv = kernels::state_type(conv), .recurrence = kernels::state_type(recurrence)};
  }
  /// Lists the words of all three.
  std::string words() const;
  /// Error(usage) with the reason why none can be chosen, where one is; an empty reason is none.
  void refuse(const std::string& reason) const;
  /// The same of the types of states alone.
  void refuse_states(const std::string& reason) const;
};

}  // namespace mpitron::cli
