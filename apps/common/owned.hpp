// Handles of C libraries that destroy themselves.
#pragma once

namespace amasia {

/// A handle and the function that destroys it. Not copied, not moved.
template <class Handle, class Destroy>
class Owned {
 public:
  Owned(Handle handle, Destroy* destroy) : handle_(handle), destroy_(destroy) {}
  ~Owned() { destroy_(handle_); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  operator Handle() const { return handle_; }

 private:
  Handle handle_;
  Destroy* destroy_;
};

}  // namespace amasia
