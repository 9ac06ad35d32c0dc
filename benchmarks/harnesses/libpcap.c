// libpcap: reads all packets of a capture file (pcap or pcapng) in memory.
#include <pcap/pcap.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_INPUT (1u << 16)
#define MAX_PACKETS 1024

// The filter compiler needs flex and bison to build. It is left out, and these two functions of
// it are all that reading a file refers to; no filter is ever set.
int install_bpf_program(pcap_t *capture, struct bpf_program *program) {
  (void)capture;
  (void)program;
  return -1;
}

void pcap_freecode(struct bpf_program *program) {
  free(program->bf_insns);
  program->bf_insns = NULL;
  program->bf_len = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0 || size > MAX_INPUT) return 0;
  FILE *file = fmemopen((void *)data, size, "rb");
  if (!file) return 0;
  char error[PCAP_ERRBUF_SIZE];
  pcap_t *capture = pcap_fopen_offline(file, error);
  if (!capture) {
    fclose(file);
    return 0;
  }
  struct pcap_pkthdr *header;
  const u_char *bytes;
  for (int packet = 0; packet < MAX_PACKETS; packet++)
    if (pcap_next_ex(capture, &header, &bytes) != 1) break;
  pcap_datalink_val_to_name(pcap_datalink(capture));
  pcap_close(capture);
  return 0;
}
