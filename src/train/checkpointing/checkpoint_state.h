#pragma once
#include <string>
#include <vector>

#include "checkpoint/read/checkpoint_reader.h"
#include "tensor/state.h"

namespace mpitron::train {

/// Collects what is to be saved: tensors to write, and values into a checkpoint's header.
class StateToSave final : public tensor::StateVisitor {
 public:
  /// `own`: everything that this rank holds, also what another rank saves for all.
  explicit StateToSave(checkpoint::Header& header, bool own = false) : header_(header), own_(own) {}

  void tensor(const tensor::ShardedTensor& tensor) override;
  void number(const std::string& name, Index& value) override { header_.integers[name] = value; }
  void number(const std::string& name, double& value) override { header_.reals[name] = value; }
  void text(const std::string& name, std::string& value) override { header_.texts[name] = value; }

  const std::vector<tensor::ShardedTensor>& tensors() const { return tensors_; }

 private:
  checkpoint::Header& header_;
  bool own_;
  std::vector<tensor::ShardedTensor> tensors_;
};

/// Gives values of a header back to their owners, and collects the tensors to read. A value that
/// the header does not have stays what it is.
class StateToLoad final : public tensor::StateVisitor {
 public:
  /// `with_masters`: parameters come from their fp32 masters where the checkpoint has them.
  StateToLoad(const checkpoint::Header& header, bool with_masters)
      : header_(header), with_masters_(with_masters) {}

  void tensor(const tensor::ShardedTensor& tensor) override;
  void number(const std::string& name, Index& value) override;
  void number(const std::string& name, double& value) override;
  void text(const std::string& name, std::string& value) override;

  const std::vector<checkpoint::LoadTarget>& tensors() const { return tensors_; }
  /// Whether the checkpoint may hold this data set although nobody asks for it: a parameter whose
  /// master is taken instead.
  bool replaced(const checkpoint::File& file, const std::string& data_set) const;
  /// Names of the values that the header does not have.
  const std::vector<std::string>& missing_values() const { return missing_values_; }

 private:
  template <class T>
  void take(const std::map<std::string, T>& from, const std::string& name, T& value);

  const checkpoint::Header& header_;
  bool with_masters_;
  std::vector<checkpoint::LoadTarget> tensors_;
  std::vector<std::string> missing_values_;
};

}  // namespace mpitron::train
