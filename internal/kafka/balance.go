package kafka

import (
	"slices"
	"strings"

	"github.com/segmentio/kafka-go"
)

// toOne gives all partitions to the member whose id is the lowest.
type toOne struct{}

func (toOne) ProtocolName() string { return "tonscribe-whole" }

func (toOne) UserData() ([]byte, error) { return nil, nil }

func (toOne) AssignGroups(members []kafka.GroupMember, partitions []kafka.Partition) kafka.GroupMemberAssignments {
	assignments := kafka.GroupMemberAssignments{}
	if len(members) == 0 {
		return assignments
	}
	first := slices.MinFunc(members, func(a, b kafka.GroupMember) int { return strings.Compare(a.ID, b.ID) })
	topics := map[string][]int{}
	for _, partition := range partitions {
		topics[partition.Topic] = append(topics[partition.Topic], partition.ID)
	}
	for _, member := range members {
		assignments[member.ID] = map[string][]int{}
	}
	assignments[first.ID] = topics
	return assignments
}
