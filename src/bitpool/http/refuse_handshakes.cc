#include "bitpool/http/refuse_handshakes.h"

#include <linux/filter.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>

namespace bitpool {
namespace {

constexpr uint32_t kFlagsOffset = 13;  // in the TCP header (RFC 9293, section 3.1)
constexpr uint32_t kSyn = 0x02;
constexpr uint32_t kWholePacket = 0xFFFFFFFF;

}  // namespace

void RefuseHandshakes(int listening_socket) {
  // A program for the kernel's packet filter: packets with SYN set are dropped.
  std::array<sock_filter, 4> program = {{
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, kFlagsOffset),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, kSyn, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, 0),
      BPF_STMT(BPF_RET | BPF_K, kWholePacket),
  }};
  const sock_fprog filter = {.len = program.size(), .filter = program.data()};
  setsockopt(listening_socket, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter));
}

}  // namespace bitpool
