// Each session of a recorded file as a file of its own: OUT-0.json, OUT-1.json ...
#include <iostream>
#include <set>
#include <string>
#include "harness/results/sessions.hpp"
#include "harness/results/journal.hpp"
#include "harness/cli/result_files.hpp"
#include "harness/results/result.hpp"
using namespace amasia;
int main(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const ResultFile whole = read_result_files({argv[i]}).front();
    for (int s = 0; s < static_cast<int>(whole.provenance.sessions.size()); ++s) {
      ResultFile part = whole;
      const SessionRecord r = session_of(whole.provenance, s);
      part.provenance.date_utc = r.date_utc;
      part.provenance.commit = r.commit;
      part.provenance.device.uuid_hash = r.uuid_hash;
      part.provenance.device_state = r.device_state;
      part.provenance.sessions.clear();
      std::erase_if(part.groups, [&](const GroupResult& g) { return g.session.value_or(0) != s; });
      std::erase_if(part.microbenchmarks, [&](const MicrobenchmarkResult& g) { return g.session.value_or(0) != s; });
      for (GroupResult& g : part.groups) g.session.reset();
      for (MicrobenchmarkResult& g : part.microbenchmarks) g.session.reset();
      std::set<std::string> seen;
      bool twice = false;
      for (const GroupResult& g : part.groups) twice |= !seen.insert(g.key.to_string()).second;
      if (part.groups.empty() && part.microbenchmarks.empty()) continue;
      const std::string path = std::string(argv[i + 1]) + "-" + std::to_string(s) + ".json";
      write_result_file(path, part);
      std::cout << path << ' ' << part.groups.size() << (twice ? " twice" : "") << std::endl;
    }
  }
}
