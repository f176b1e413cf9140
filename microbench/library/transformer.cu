// library/transformer: how long do the products of one transformer layer take, and where does FP8's
// time go (Luo et al. 2024)?
//
// Method: 4 x 512 tokens, the hidden, inner and head sizes of seed 000's Table II, through
// cuBLASLt. The products: q, k, v together, scores and values of every head (head size hidden /
// heads, batched), output, gate and up of SwiGLU together, and down. They are launched one after
// the other and timed by events, hot. Only products and conversions are included: norms, softmax,
// activation and residuals are left out. FP8: the four linear layers quantise bf16 x and w as
// library/linear does, the products of the heads stay bf16, as in the published layer. Each
// product's samples are compared with a reference on the GPU.
#include <cublasLt.h>

#include "microbench/library/linear.cuh"

namespace amasia::library {
namespace {

struct Sizes {
  std::int64_t hidden, ffn;
  int heads;
};
constexpr Sizes layers[] = {
    {1024, 2816, 8}, {2048, 5632, 16}, {4096, 11008, 32}, {5120, 13824, 40}, {8192, 22016, 64}};
constexpr std::int64_t sequences = 4, length = 512;

enum class Part { all, conversion, linear, heads };

const char* name_of(Part p) {
  constexpr const char* names[] = {"all", "conversion", "linear", "heads"};
  return names[static_cast<int>(p)];
}

class Layer {
 public:
  Layer(const Sizes& s, Type type, const Device& device, Stream stream) : type_(type) {
    const std::int64_t tokens = sequences * length, head = s.hidden / s.heads;
    const Shape of_linear[] = {{tokens, 3 * s.hidden, s.hidden},
                               {tokens, s.hidden, s.hidden},
                               {tokens, 2 * s.ffn, s.hidden},
                               {tokens, s.hidden, s.ffn}};
    const int all_heads = static_cast<int>(sequences) * s.heads;
    const Shape of_heads[] = {{length, length, head, all_heads}, {length, head, length, all_heads}};
    const Type in_heads = type == Type::fp8 ? Type::bf16 : type;
    std::size_t bytes = 0;
    for (const Shape& shape : of_linear) bytes += Linear::bytes(type, shape);
    for (const Shape& shape : of_heads) bytes += Linear::bytes(in_heads, shape);
    Arena arena(bytes);
    for (const Shape& shape : of_linear) {
      linear_.push_back(std::make_unique<Linear>(type, shape, device, stream, arena));
    }
    for (const Shape& shape : of_heads) {
      heads_.push_back(std::make_unique<Linear>(in_heads, shape, device, stream, arena));
    }
    for (const auto& l : linear_) l->verify(stream);
    for (const auto& l : heads_) l->verify(stream);
  }

  void enqueue(Part part, Stream stream) const {
    for (std::size_t i = 0; i < linear_.size(); ++i) {
      const Linear& l = *linear_[i];
      if (type_ == Type::fp8 && (part == Part::all || part == Part::conversion)) {
        l.find_largest(stream);
        l.quantise_x(stream);
        l.quantise_w(stream);
      }
      if (part == Part::all || part == Part::linear) l.multiply(stream);
      if (i == 0 && (part == Part::all || part == Part::heads)) {
        for (const auto& h : heads_) h->multiply(stream);
      }
    }
  }

 private:
  Type type_;
  std::vector<std::unique_ptr<Linear>> linear_{}, heads_{};
};

void add(std::vector<Point>& points, const Sizes& sizes, Type type, Part part) {
  Point p = library_point({{"hidden", std::to_string(sizes.hidden)},
                           {"type", library::name_of(type)},
                           {"part", name_of(part)}},
                          "time", "ms", type);
  p.prepare = [=](const Device& d, Stream stream) -> Sampling {
    auto layer = std::make_shared<const Layer>(sizes, type, d, stream);
    return [=] {
      constexpr int times = 4;
      const double ms = milliseconds(stream, [&] {
        for (int i = 0; i < times; ++i) layer->enqueue(part, stream);
      });
      return of_time(1e6 * ms / times, ms / times);
    };
  };
  points.push_back(std::move(p));
}

std::vector<Point> points(const Device&, Scope scope) {
  std::vector<Point> all;
  for (const Sizes& sizes : layers) {
    if (scope == Scope::quick && sizes.hidden != 4096) continue;
    for (const Type type : {Type::fp32, Type::tf32, Type::fp16, Type::fp8}) {
      add(all, sizes, type, Part::all);
    }
    for (const Part part : {Part::conversion, Part::linear, Part::heads}) {
      add(all, sizes, Type::fp8, part);
    }
  }
  return all;
}

const bool registered = register_microbenchmark(
    {"library/transformer", "How long do the products of one transformer layer take?",
     "4 x 512 tokens, sizes of seed 000's Table II, through cuBLASLt one after the other: products "
     "(SwiGLU's gate too) and FP8's conversions only, without norms, softmax, activation and "
     "residuals; by events, hot; samples of each product are held to a reference.",
     points});

}  // namespace
}  // namespace amasia::library
