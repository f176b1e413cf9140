// library/generation: how many tokens per second the linear layers of a language model allow when
// it generates. The arithmetic of the layers, not a language model: no attention, no norms, no
// sampling, no prompt.
//
// Method: one step multiplies the activations of a batch of 8 tokens by every weight once, through
// cuBLASLt, captured once into a graph and replayed. Per layer: q, k, v together (3h x h), output
// (h x h), gate and up together (2f x h) and down (h x f). At the end: the vocabulary (v x h).
// Tokens per second are 8 over the time of a step. Two layers' weights take turns: more than the L2
// holds, so that every weight comes from memory. Activations do not change. FP8: activations are
// quantised for each product with the largest magnitude of the step before, as frameworks do.
// `weights=kept`: weights are quantised once. `weights=cast`: each step quantises them from bf16,
// as the framework of Luo et al. 2024 (seed 000) did. Products are compared with a reference on the
// GPU.
#include <cublasLt.h>

#include "microbench/library/linear.cuh"

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
constexpr int sets = 2;  // layers whose weights are in memory

class Step {
 public:
  Step(const Model& model, Type type, bool cast, const Device& device, Stream stream)
      : model_(model), type_(type), cast_(cast) {
    const std::int64_t h = model.hidden, f = model.ffn;
    const Shape shapes[] = {{batch, 3 * h, h}, {batch, h, h}, {batch, 2 * f, h}, {batch, h, f}};
    const Shape last{batch, vocabulary, h};
    std::size_t bytes = Linear::bytes(type, last);
    for (const Shape& s : shapes) bytes += sets * Linear::bytes(type, s);
    Arena arena(bytes);
    for (int set = 0; set < sets; ++set) {
      for (const Shape& s : shapes) {
        layers_.push_back(std::make_unique<Linear>(type, s, device, stream, arena));
      }
    }
    layers_.push_back(std::make_unique<Linear>(type, last, device, stream, arena));
    for (const auto& layer : layers_) layer->verify(stream);

    cudaGraph_t graph = nullptr;
    AMASIA_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int l = 0; l < model_.layers; ++l) {
      for (int i = 0; i < 4; ++i)
        enqueue(*layers_[static_cast<std::size_t>(l % sets * 4 + i)], stream);
    }
    enqueue(*layers_.back(), stream);
    AMASIA_CUDA(cudaStreamEndCapture(stream, &graph));
    AMASIA_CUDA(cudaGraphInstantiate(&step_, graph, 0));
    AMASIA_CUDA(cudaGraphDestroy(graph));
  }
  ~Step() { cudaGraphExecDestroy(step_); }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  void run(Stream stream) const { AMASIA_CUDA(cudaGraphLaunch(step_, stream)); }

 private:
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
  cudaGraphExec_t step_ = nullptr;
};

/// Bytes of all weights as they are read in one step.
double weight_bytes(const Model& m, Type type) {
  const double of_layers = static_cast<double>(m.layers) *
                           static_cast<double>(4 * m.hidden * m.hidden + 3 * m.hidden * m.ffn);
  return (of_layers + static_cast<double>(vocabulary * m.hidden)) *
         (type == Type::fp8 ? 1.0 : static_cast<double>(element_bytes(type)));
}

void add(std::vector<Point>& points, const Model& model, Type type, bool cast, bool bandwidth) {
  Point p =
      library_point({{"model", model.name},
                     {"type", library::name_of(type)},
                     {"weights", cast ? "cast" : "kept"}},
                    bandwidth ? "bandwidth" : "throughput", bandwidth ? "GB/s" : "tokens/s", type);
  p.larger_is_better = true;
  p.prepare = [=](const Device& d, Stream stream) -> Sampling {
    auto step = std::make_shared<const Step>(model, type, cast, d, stream);
    return [=] {
      const double ms = milliseconds(stream, [&] { step->run(stream); });
      Reading r;
      r.time_ns = 1e6 * ms;
      r.value = bandwidth ? weight_bytes(model, type) / *r.time_ns : 1e3 * batch / ms;
      return r;
    };
  };
  points.push_back(std::move(p));
}

std::vector<Point> points(const Device&, Scope scope) {
  std::vector<Point> all;
  for (const Model& model : models) {
    if (scope == Scope::quick && &model != models) continue;
    for (const Type type : {Type::fp32, Type::bf16, Type::fp8}) {
      add(all, model, type, false, false);
      if (scope == Scope::full) add(all, model, type, false, true);
    }
    add(all, model, Type::fp8, true, false);
  }
  return all;
}

const bool registered = register_microbenchmark(
    {"library/generation",
     "How many tokens per second do the linear layers of a language model allow?",
     "One step multiplies 8 tokens by every weight once through cuBLASLt, as a graph: the "
     "arithmetic "
     "of the layers and not a language model (no attention, norms, sampling or prompt); weights "
     "from "
     "memory; FP8 with weights kept quantised or cast from bf16 in each step.",
     points});

}  // namespace
}  // namespace amasia::library
