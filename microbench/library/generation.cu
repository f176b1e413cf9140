// library/generation: how many tokens per second the linear layers of a language model allow when
// it generates. The arithmetic of the layers, not a language model: no attention, no norms, no
// sampling.
//
// Method: a pass multiplies the activations of some tokens by every weight once, through cuBLASLt,
// captured once into a graph and replayed. Per layer: q, k, v together (3h x h), output (h x h),
// gate and up together (2f x h) and down (h x f). At the end: the vocabulary (v x h). A step is a
// pass of 8 tokens, one for each text of the batch; `throughput` is 8 over its time. `text
// throughput` counts the input as well, as Luo et al. 2024 (seed 000) do: 8 x (128 + 128) tokens
// over the time of a pass of the 8 x 128 input tokens and of 128 steps. A step's time is measured
// once a sample, since its products do not depend on what came before. Two layers' weights take
// turns: more than the L2 holds, so that every weight comes from memory. Activations do not change.
// FP8: activations are quantised for each product with the largest magnitude of the pass before, as
// frameworks do. `weights=kept`: weights are quantised once. `weights=cast`: each pass quantises
// them from bf16, as the framework of seed 000 did. Products are compared with a reference on the
// GPU.
#include <cublasLt.h>

#include "microbench/library/linear.cuh"
#include "variants/device/prepared_run.hpp"

namespace amasia::library {
namespace {

struct Model {
  const char* name;
  std::int64_t hidden, ffn;
  int layers;
};
constexpr Model models[] = {
    {"llama-3B", 3200, 8640, 26},
    {"llama-2-7B", 4096, 11008, 32},
    {"llama-2-13B", 5120, 13824, 40},
};
constexpr std::int64_t batch = 8, vocabulary = 32000;
// Tokens of a text: the most that seed 000 lets in and out.
constexpr std::int64_t input = 128, output = 128;
constexpr int sets = 2;  // layers whose weights are in memory

class Pass {
 public:
  static std::size_t bytes(const Model& model, Type type, std::int64_t tokens) {
    std::size_t sum = Linear::bytes(type, last(model, tokens));
    for (const Shape& s : shapes(model, tokens)) sum += sets * Linear::bytes(type, s);
    return sum;
  }

  Pass(const Model& model, Type type, bool cast, std::int64_t tokens, const Device& device,
       Stream stream, Arena& arena)
      : model_(model), type_(type), cast_(cast) {
    for (int set = 0; set < sets; ++set) {
      for (const Shape& s : shapes(model, tokens)) {
        layers_.push_back(std::make_unique<Linear>(type, s, device, stream, arena));
      }
    }
    layers_.push_back(std::make_unique<Linear>(type, last(model, tokens), device, stream, arena));
    for (const auto& layer : layers_) layer->verify(stream);

    pass_.emplace([this](Stream s) { enqueue_all(s); }, LaunchMode::graph, stream);
  }

  double run(Stream stream) const {
    return milliseconds(stream, [&] { pass_->enqueue(stream); });
  }

 private:
  static std::array<Shape, 4> shapes(const Model& model, std::int64_t tokens) {
    const std::int64_t h = model.hidden, f = model.ffn;
    return {{{tokens, 3 * h, h}, {tokens, h, h}, {tokens, 2 * f, h}, {tokens, h, f}}};
  }
  static Shape last(const Model& model, std::int64_t tokens) {
    return {tokens, vocabulary, model.hidden};
  }

  void enqueue_all(Stream stream) const {
    for (int l = 0; l < model_.layers; ++l) {
      for (int i = 0; i < 4; ++i) {
        enqueue(*layers_[static_cast<std::size_t>(l % sets * 4 + i)], stream);
      }
    }
    enqueue(*layers_.back(), stream);
  }
  void enqueue(const Linear& layer, Stream stream) const {
    if (type_ == Type::fp8) {
      if (cast_) layer.quantise_w(stream);
      layer.quantise_x(stream);
    }
    layer.multiply(stream);
  }

  Model model_;
  Type type_;
  bool cast_;
  std::vector<std::unique_ptr<Linear>> layers_{};
  std::optional<PreparedRun> pass_{};
};

/// Bytes of all weights as they are read in one pass.
double weight_bytes(const Model& m, Type type) {
  const double of_layers = static_cast<double>(m.layers) *
                           static_cast<double>(4 * m.hidden * m.hidden + 3 * m.hidden * m.ffn);
  return (of_layers + static_cast<double>(vocabulary * m.hidden)) *
         (type == Type::fp8 ? 1.0 : static_cast<double>(element_bytes(type)));
}

/// Milliseconds of a step, and of a pass of the input before it where there is one.
struct Times {
  double step = 0, prompt = 0;
};

/// What is made of them: its name, its unit and the value.
struct Quantity {
  const char* name;
  const char* unit;
  bool prompt;
  double (*value)(const Model&, Type, const Times&);
};
constexpr Quantity throughput{
    "throughput", "tokens/s", false,
    [](const Model&, Type, const Times& t) { return 1e3 * batch / t.step; }};
constexpr Quantity bandwidth{"bandwidth", "GB/s", false,
                             [](const Model& m, Type type, const Times& t) {
                               return 1e-6 * weight_bytes(m, type) / t.step;
                             }};
constexpr Quantity text_throughput{
    "text throughput", "tokens/s", true, [](const Model&, Type, const Times& t) {
      return 1e3 * batch * (input + output) / (t.prompt + output * t.step);
    }};

void add(std::vector<Point>& points, const Model& model, Type type, bool cast, const Quantity& q) {
  Point p = library_point({{"model", model.name},
                           {"type", library::name_of(type)},
                           {"weights", cast ? "cast" : "kept"}},
                          q.name, q.unit, type);
  p.larger_is_better = true;
  p.prepare = [=](const Device& d, Stream stream) -> Sampling {
    Arena arena(Pass::bytes(model, type, batch) +
                (q.prompt ? Pass::bytes(model, type, batch * input) : 0));
    auto step = std::make_shared<const Pass>(model, type, cast, batch, d, stream, arena);
    std::shared_ptr<const Pass> prompt;
    if (q.prompt) {
      prompt = std::make_shared<const Pass>(model, type, cast, batch * input, d, stream, arena);
    }
    return [=] {
      Times t;
      if (prompt) t.prompt = prompt->run(stream);
      t.step = step->run(stream);
      return of_time(1e6 * (prompt ? t.prompt + output * t.step : t.step), q.value(model, type, t));
    };
  };
  points.push_back(std::move(p));
}

std::vector<Point> points(const Device&, Scope scope) {
  std::vector<Point> all;
  for (const Model& model : models) {
    if (scope == Scope::quick && &model != models) continue;
    for (const Type type : {Type::fp32, Type::tf32, Type::bf16, Type::fp8}) {
      add(all, model, type, false, throughput);
      if (scope == Scope::full) {
        add(all, model, type, false, bandwidth);
        add(all, model, type, false, text_throughput);
      }
    }
    add(all, model, Type::fp8, true, throughput);
    if (scope == Scope::full) add(all, model, Type::fp8, true, text_throughput);
  }
  return all;
}

const bool registered = register_microbenchmark(
    {"library/generation",
     "How many tokens per second do the linear layers of a language model allow?",
     "A pass multiplies tokens by every weight once through cuBLASLt, as a graph: the arithmetic "
     "of the layers and not a language model (no attention, norms or sampling). A step is a pass "
     "of 8 tokens; text throughput counts a pass of 8 x 128 input tokens before 128 steps, too. "
     "Weights from memory; FP8 with weights kept quantised or cast from bf16 in each pass.",
     points});

}  // namespace
}  // namespace amasia::library
