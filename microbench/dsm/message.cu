// dsm/message: how long does a run of bytes take to another SM of the cluster, by the instruction
// that carries it?
//
// Method: clusters of two blocks of 128 threads hand messages of 16 bytes to 16 KiB to each other,
// 16 bytes per thread and access, all accesses in flight at once. A message has arrived when every
// thread of the receiver has its words in registers. There each word is checked.
// `way=bulk`: threads write the message to their own shared memory; one thread copies it by
//   cp.async.bulk from shared::cta to shared::cluster.
// `way=st_async`: each access is an st.async, which counts its bytes on the receiver's mbarrier.
// `way=store`: st.shared::cluster, a barrier, one releasing arrival at the receiver's mbarrier.
// `way=load`: threads write to their own shared memory, one thread arrives at the receiver's
//   mbarrier, and the receiver loads the words by ld.shared::cluster.
// Latency: one cluster, the message goes to and fro; cycles of one hop. Bandwidth: clusters fill
// the device, both blocks send at once; bytes per cycle that an SM sends, hand-over included.
// Slope between walks of 64 and 576 hops. Messages alternate between two inboxes: a block sends
// message n after it has received n - 1, which was sent after n - 2 had been read.
// Single words: dsm/handover. Several copies in flight: tma/bandwidth, dsm/ring_copy.

#include <vector>

#include "microbench/dsm/message.cuh"

namespace amasia::dsm {
namespace {

constexpr std::size_t block_bytes = 120 << 10;  // of shared memory: one block per SM
constexpr int few_hops = 64, many_hops = 64 + 512;

using MessageKernel = void (*)(unsigned, bool, unsigned, Walks, Stamp*, unsigned*);
struct Message {
  const char* way;
  unsigned bytes;
  MessageKernel kernel;
  Claim claim;
};

template <int ACCESSES>
std::vector<Message> messages_of(const std::vector<unsigned>& sizes) {
  std::vector<Message> all;
  for (const unsigned bytes : sizes) {
    all.push_back(
        {"bulk", bytes, hand_messages<Carrier::bulk, ACCESSES>, {"UBLKCP", "cp.async.bulk", 1}});
    all.push_back({"st_async",
                   bytes,
                   hand_messages<Carrier::st_async, ACCESSES>,
                   {"STAS", "st.async", ACCESSES}});
    all.push_back({"store",
                   bytes,
                   hand_messages<Carrier::store, ACCESSES>,
                   {"ST", "st.shared::cluster", ACCESSES}});
    all.push_back({"load",
                   bytes,
                   hand_messages<Carrier::load, ACCESSES>,
                   {"LD", "ld.shared::cluster", ACCESSES}});
  }
  return all;
}

Sampling hand(const Message& m, bool both, const Device& device, Stream stream) {
  LaunchShape shape =
      fill_device(reinterpret_cast<const void*>(m.kernel), 2, message_threads, block_bytes, device);
  if (!both) shape.grid = dim3(2);
  auto taken = std::make_shared<DeviceArray<Stamp>>(max_walks);
  auto mistakes = std::make_shared<Mistakes>(stream);
  const auto run = [=](unsigned spoilt) {
    launch(m.kernel, shape, stream, m.bytes, both, spoilt, Walks{{few_hops, few_hops, many_hops}},
           taken->data(), mistakes->data());
  };
  run(1);
  mistakes->expect_some("a message that must be wrong was taken for right");
  return [=] {
    run(0);
    mistakes->expect_none("threads received another message than was sent");
    Stamp host[max_walks];
    taken->download(host);
    Reading r = slope_between(host[1], few_hops, host[2], many_hops);
    if (both) r.value = m.bytes / *r.cycles;
    return r;
  };
}

std::vector<Point> points(const Device& device, Scope scope) {
  std::vector<Point> all;
  const auto add = [&](const std::vector<Message>& messages) {
    for (const bool both : {false, true}) {
      for (const Message& m : messages) {
        if (scope == Scope::quick && m.bytes != 128 && m.bytes != 4096) continue;
        Point p;
        p.at = {{"way", m.way},
                {"bytes", std::to_string(m.bytes)},
                {"direction", both ? "both" : "one"}};
        p.quantity = both ? "bandwidth" : "latency";
        p.unit = both ? "byte/clk/SM" : "cycles";
        p.larger_is_better = both;
        p.runs_from = 90;
        p.unsupported = obstacle(2, block_bytes, device);
        p.kernels = {{reinterpret_cast<const void*>(m.kernel), message_threads, block_bytes, 2}};
        p.claims = {m.claim};
        p.prepare = [=](const Device& d, Stream stream) { return hand(m, both, d, stream); };
        all.push_back(std::move(p));
      }
    }
  };
  add(messages_of<1>({16, 128, 512, 2048}));
  add(messages_of<2>({4096}));
  add(messages_of<8>({16384}));
  return all;
}

const bool registered = register_microbenchmark(
    {"dsm/message",
     "How long does a run of bytes take to another SM, by the instruction that carries it?",
     "Two blocks of a cluster hand messages of 16 bytes to 16 KiB to and fro, or to each other at "
     "once on the whole device, by cp.async.bulk, st.async, remote stores or remote loads; slope "
     "between 64 and 576 hops. Every word is checked.",
     points});

}  // namespace
}  // namespace amasia::dsm
