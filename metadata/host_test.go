package metadata

import "testing"

func TestLinksOfOneHostShareAQueue(t *testing.T) {
	if a, b := QueueOf("https://Host.site/1"), QueueOf(" http://host.site:8080/2"); a != b || a >= hostQueues {
		t.Errorf("links of one host are in queues %d and %d", a, b)
	}
	for link, want := range map[string]uint16{
		"ipfs://Qm/1": queueGateway, "IPFS://Qm/2": queueGateway, "data:,{}": QueueInLink, "tonstorage://A": QueueInLink, "\x00": QueueInLink,
		"https://example.com/1": QueueInLink, "": QueueInLink,
	} {
		if got := QueueOf(link); got != want {
			t.Errorf("%q is in queue %d, want %d", link, got, want)
		}
	}
}
