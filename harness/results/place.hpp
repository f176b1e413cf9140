// Where a value stands in a document: "groups[0].rows[3].samples.time_ms[7]".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace amasia {

/// A link to the place around it, which must outlive it: nothing is put together until a message
/// needs it, because a file has hundreds of thousands of places.
class Place {
 public:
  Place() = default;  // the document
  Place(const Place& around, std::string_view name) : around_(&around), name_(name) {}
  Place(const Place& around, std::size_t index)
      : around_(&around), index_(index), is_index_(true) {}

  std::string to_string() const {
    if (around_ == nullptr) return "";
    std::string text = around_->to_string();
    if (is_index_) return text + '[' + std::to_string(index_) + ']';
    if (!text.empty()) text += '.';
    return text.append(name_);
  }

 private:
  const Place* around_ = nullptr;
  std::string_view name_{};
  std::size_t index_ = 0;
  bool is_index_ = false;
};

}  // namespace amasia
