// Implementations of y = f(x) that would look right, or fast, without being it. What must become of
// each is in test_hostile.py. They are compiled for a GPU, and for the stub device as C++.
#include "tests/hostile/device.hpp"

#include <cstdio>
#include <map>

namespace {

/// Takes longer than a copy of its result, which is what makes keeping one worth while.
struct F {
  ON_DEVICE float operator()(float x) const {
    float value = x;
    for (int i = 0; i < 256; ++i) value = 0.5F * value + x;
    return value;
  }
};

struct Call {
  Call(Stream s, void** a)
      : stream(s),
        n(*static_cast<int*>(a[0])),
        x(*static_cast<float**>(a[1])),
        y(*static_cast<float**>(a[2])) {}
  int compute(int count, Stream on) const {
    return each(on, count, [x = x, y = y] ON_DEVICE(int i) { y[i] = F{}(x[i]); });
  }
  int compute() const { return compute(n, stream); }
  int compute_and_keep(float* kept) const {
    return each(stream, n, [x = x, y = y, kept] ON_DEVICE(int i) { kept[i] = y[i] = F{}(x[i]); });
  }
  int give(const float* kept) const {
    return each(stream, n, [y = y, kept] ON_DEVICE(int i) { y[i] = kept[i]; });
  }

  Stream stream;
  int n;
  float *x, *y;
};

/// Calls until everything was verified and timing has begun.
constexpr int calls_before = 20;

}  // namespace

IMPLEMENTATION honest(Stream s, void** a) { return Call(s, a).compute(); }

IMPLEMENTATION no_work(Stream, void**) { return 0; }

IMPLEMENTATION part_of_the_work(Stream s, void** a) {
  const Call call(s, a);
  return call.compute(call.n - call.n / 8, s);
}

/// Relies on what an earlier run has left in the output.
IMPLEMENTATION stale_output(Stream s, void** a) {
  static bool done = false;
  const int status = done ? 0 : Call(s, a).compute();
  done = true;
  return status;
}

IMPLEMENTATION kept_output(Stream s, void** a) {
  static float* kept = nullptr;
  const Call call(s, a);
  if (kept != nullptr) return call.give(kept);
  kept = allocate(static_cast<std::size_t>(call.n));
  return call.compute_and_keep(kept);
}

/// Knows an input again by eight of its elements. Where they are new, it computes.
IMPLEMENTATION replay_by_fingerprint(Stream s, void** a) {
  constexpr int prints = 8;
  static float *kept = nullptr, *print = nullptr;
  const Call call(s, a);
  if (kept == nullptr) {
    kept = allocate(static_cast<std::size_t>(call.n));
    print = allocate(prints);
  }
  const int stride = call.n / prints;
  const int status =
      each(s, call.n, [=, x = call.x, y = call.y, k = kept, p = print] ON_DEVICE(int i) {
        bool known = true;
        for (int j = 0; j < prints; ++j) known = known && x[j * stride] == p[j];
        if (!known) k[i] = F{}(x[i]);
        y[i] = k[i];
      });
  each(s, prints, [=, x = call.x, p = print] ON_DEVICE(int j) { p[j] = x[j * stride]; });
  return status;
}

IMPLEMENTATION replay_by_pointer(Stream s, void** a) {
  static std::map<const float*, float*> seen;
  const Call call(s, a);
  float*& kept = seen[call.x];
  if (kept != nullptr) return call.give(kept);
  kept = allocate(static_cast<std::size_t>(call.n));
  return call.compute_and_keep(kept);
}

IMPLEMENTATION replay_by_call_count(Stream s, void** a) {
  static float* kept = nullptr;
  static int calls = 0;
  const Call call(s, a);
  if (kept == nullptr) kept = allocate(static_cast<std::size_t>(call.n));
  return ++calls <= calls_before ? call.compute_and_keep(kept) : call.give(kept);
}

/// Right in the run that warms the caches, idle in the timed one.
IMPLEMENTATION every_other_call(Stream s, void** a) {
  static int calls = 0;
  return ++calls % 2 == 1 ? Call(s, a).compute() : 0;
}

IMPLEMENTATION wrong_later(Stream s, void** a) {
  static int calls = 0;
  const Call call(s, a);
  const int status = call.compute();
  if (++calls <= calls_before) return status;
  return each(s, 1, [y = call.y] ON_DEVICE(int) { y[3] += 1; });
}

IMPLEMENTATION side_stream(Stream s, void** a) {
  return beside([call = Call(s, a)](Stream side) { return call.compute(call.n, side); });
}

IMPLEMENTATION side_stream_later(Stream s, void** a) {
  static int calls = 0;
  if (++calls <= calls_before) return Call(s, a).compute();
  return beside([call = Call(s, a)](Stream side) { return call.compute(call.n, side); });
}

/// The first half in the stream, the second when the stream has ended.
IMPLEMENTATION work_after_the_end(Stream s, void** a) {
  const Call call(s, a);
  call.compute(call.n / 2, s);
  return behind(s, [call](Stream side) {
    for (int i = 0; i < runs_that_last; ++i) call.compute(call.n, side);
    return 0;
  });
}

/// Lets alone what holds a number: it works only where outputs are poisoned.
IMPLEMENTATION only_when_poisoned(Stream s, void** a) {
  const Call call(s, a);
  return each(s, call.n, [x = call.x, y = call.y] ON_DEVICE(int i) {
    if (y[i] != y[i]) y[i] = F{}(x[i]);
  });
}

IMPLEMENTATION writes_beyond(Stream s, void** a) {
  const Call call(s, a);
  call.compute();
  return each(s, 1, [y = call.y, n = call.n] ON_DEVICE(int) { y[n + 2] = 0; });
}

IMPLEMENTATION writes_input(Stream s, void** a) {
  const Call call(s, a);
  call.compute();
  return each(s, 1, [x = call.x] ON_DEVICE(int) { x[5] = 9; });
}

IMPLEMENTATION allocates_each_call(Stream s, void** a) {
  return allocate(1 << 20) != nullptr ? Call(s, a).compute() : 1;
}

IMPLEMENTATION prints_to_stdout(Stream s, void** a) {
  std::printf("hello from the library");  // no end of the line
  return Call(s, a).compute();
}

IMPLEMENTATION prints_to_stderr(Stream s, void** a) {
  std::fputs("hello from the library\n", stderr);
  return Call(s, a).compute();
}

#ifdef __CUDACC__

IMPLEMENTATION nothing_in_capture(Stream s, void** a) {
  cudaStreamCaptureStatus status{};
  cudaStreamIsCapturing(s, &status);
  return status == cudaStreamCaptureStatusNone ? Call(s, a).compute() : 0;
}

/// A capture would show that nobody joins its other stream.
IMPLEMENTATION work_after_the_end_uncaptured(Stream s, void** a) {
  cudaStreamCaptureStatus status{};
  cudaStreamIsCapturing(s, &status);
  if (status != cudaStreamCaptureStatusNone) return Call(s, a).compute();
  return work_after_the_end(s, a);
}

IMPLEMENTATION allocates_and_frees(Stream s, void** a) {
  float* const scratch = allocate(1 << 20);
  const int status = Call(s, a).compute();
  return cudaFree(scratch) == cudaSuccess ? status : 1;
}

/// Memory of the stream's own pool costs what it costs, and is in the time.
IMPLEMENTATION allocates_on_the_stream(Stream s, void** a) {
  void* scratch = nullptr;
  if (cudaMallocAsync(&scratch, 4 << 20, s) != cudaSuccess) return 1;
  const int status = Call(s, a).compute();
  return cudaFreeAsync(scratch, s) == cudaSuccess ? status : 1;
}

/// Reads its buffers once more, so that the next run may find them in L2.
IMPLEMENTATION result_left_in_l2(Stream s, void** a) {
  const Call call(s, a);
  call.compute();
  return each(s, call.n, [x = call.x, y = call.y] ON_DEVICE(int i) {
    if (x[i] + y[i] == -1e30F) y[i] = 0;  // never
  });
}

/// The same with lines that no flush displaces.
IMPLEMENTATION result_left_in_persisting_l2(Stream s, void** a) {
  static const cudaError_t once = cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 24 << 20);
  const Call call(s, a);
  if (once != cudaSuccess) return 1;
  cudaStreamAttrValue policy{};
  policy.accessPolicyWindow.base_ptr = call.x;
  policy.accessPolicyWindow.num_bytes = static_cast<std::size_t>(call.n) * sizeof(float);
  policy.accessPolicyWindow.hitRatio = 1;
  policy.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  policy.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  cudaStreamSetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &policy);
  return call.compute();
}

#endif
