// User kernels of y = a x + y, which tests/cli/test_bench.py loads as a shared library: one that
// is right, and the ways in which one can be wrong. On the stub they work on memory of the host.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace {

struct Arguments {
  explicit Arguments(void** a)
      : n(*static_cast<int*>(a[0])),
        factor(*static_cast<float*>(a[1])),
        x(*static_cast<float**>(a[2])),
        y(*static_cast<float**>(a[3])) {}
  void work() const {
    for (int i = 0; i < n; ++i) y[i] += factor * x[i];
  }
  int n;
  float factor;
  float *x, *y;
};

}  // namespace

#define IMPLEMENTATION extern "C" __attribute__((visibility("default"))) int

IMPLEMENTATION right(void*, void** a) {
  Arguments(a).work();
  return 0;
}

IMPLEMENTATION does_nothing(void*, void**) { return 0; }

IMPLEMENTATION off_by_a_byte(void*, void** a) {
  Arguments(a).work();
  reinterpret_cast<char*>(Arguments(a).y + 17)[2] ^= 1;
  return 0;
}

IMPLEMENTATION writes_before(void*, void** a) {
  Arguments(a).work();
  Arguments(a).x[-1] = 0;
  return 0;
}

IMPLEMENTATION takes_all_memory(void*, void** a) {
  static void* const taken = std::malloc(std::size_t{900} << 20);
  Arguments(a).work();
  return taken == nullptr ? 1 : 0;
}

IMPLEMENTATION prints(void*, void** a) {
  Arguments(a).work();
  std::printf("hello from the library");  // no end of the line
  return 0;
}

IMPLEMENTATION returns_seven(void*, void**) { return 7; }

IMPLEMENTATION throws(void*, void**) { throw std::runtime_error("no\nluck"); }

IMPLEMENTATION aborts(void*, void**) { std::abort(); }

IMPLEMENTATION hangs(void*, void**) {
  std::this_thread::sleep_for(std::chrono::hours(1));
  return 0;
}

#ifdef IN_CONSTRUCTOR
namespace {
const struct Constructed {
  Constructed() { IN_CONSTRUCTOR; }
} constructed;
}  // namespace
#endif
