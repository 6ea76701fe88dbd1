package kafka

import (
	"strings"
	"testing"

	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/test/support/enginetest"
	kafkatest "tonscribe/test/support/kafka"
)

// rules hold on every log.
var rules = []struct {
	name string
	hold func(t *testing.T, l *testLog)
}{
	{"PublishKeepsOrderAcrossRequests", publishKeepsOrderAcrossRequests},
	{"TopicsWithAnotherPartitionCountAreRefused", topicsWithAnotherPartitionCountAreRefused},
	{"TopicsAreLookedForWithoutBeingMade", topicsAreLookedForWithoutBeingMade},
	{"LastSealIsTheLastCompleteBundle", lastSealIsTheLastCompleteBundle},
	{"RestartsAtAnyPointGiveEveryRecordOnceInOrder", restartsAtAnyPointGiveEveryRecordOnceInOrder},
	{"AnIntendedRangeComesBackAsItWas", anIntendedRangeComesBackAsItWas},
	{"AnIntendedRangeIsNotCommittedPastWhereItBeginsWithRepetitions", anIntendedRangeIsNotCommittedPastWhereItBeginsWithRepetitions},
	{"WhoFollowsGetsWhatComesAfterABundleOnceAndInOrder", whoFollowsGetsWhatComesAfterABundleOnceAndInOrder},
	{"WhoFollowsWhatTheLogHasNoMoreGetsAnError", whoFollowsWhatTheLogHasNoMoreGetsAnError},
	{"WhoFollowsATopicWithAnotherPartitionCountGetsAnError", whoFollowsATopicWithAnotherPartitionCountGetsAnError},
	{"WhoWatchesGetsWhatTheTopicHasAndWhatComes", whoWatchesGetsWhatTheTopicHasAndWhatComes},
	{"CommitsFromOutsideTheGenerationAreRefused", commitsFromOutsideTheGenerationAreRefused},
	{"MembersShareAndHandOverPartitions", membersShareAndHandOverPartitions},
	{"AFailedHandlerStartsAgainFromTheLastCommit", aFailedHandlerStartsAgainFromTheLastCommit},
	{"AnOffsetThatTheLogDoesNotHaveIsAnError", anOffsetThatTheLogDoesNotHaveIsAnError},
	{"LagCountsWhatIsNotCommitted", lagCountsWhatIsNotCommitted},
	{"PollEndsWhenNothingComes", pollEndsWhenNothingComes},
	{"LongRepetitionsAreCommittedPast", longRepetitionsAreCommittedPast},
	{"RepetitionsAtTheEndAreCommittedPast", repetitionsAtTheEndAreCommittedPast},
	{"ARewoundLaneGivesWhatComesAfterTheBundleAgain", aRewoundLaneGivesWhatComesAfterTheBundleAgain},
	{"CommitsTellHowFarTheOutputHadCome", commitsTellHowFarTheOutputHadCome},
	{"WhereTheLogHasTheNextBundleNoMoreARewoundLaneBeginsWithTheOldest", whereTheLogHasTheNextBundleNoMoreARewoundLaneBeginsWithTheOldest},
	{"AHandlerThatHearsOfTheEndOfItsGenerationFirstHasNotFailed", aHandlerThatHearsOfTheEndOfItsGenerationFirstHasNotFailed},
	{"AFinalErrorOfAHandlerEndsConsume", aFinalErrorOfAHandlerEndsConsume},
	{"AHandlerWhoseCommitFailedStartsAgainWhateverItSaysOfIt", aHandlerWhoseCommitFailedStartsAgainWhateverItSaysOfIt},
}

func TestEmbeddedLog(t *testing.T) {
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			log := enginetest.Kafka(t)
			rule.hold(t, newTestLog(t, Dependencies{Dial: log.Dial, Epoch: log.Epoch()}, log.Address()))
		})
	}
}

// What a process wrote itself its readers have without asking the log, which changes nothing.
func TestEmbeddedLogOfOneClient(t *testing.T) {
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			log := enginetest.Kafka(t)
			rule.hold(t, newTestLog(t, Dependencies{Dial: log.Dial, Epoch: log.Epoch(), Alone: true}, log.Address()))
		})
	}
}

func TestApacheKafka(t *testing.T) {
	brokers := kafkatest.Apache(t)
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) { rule.hold(t, newTestLog(t, Dependencies{}, brokers...)) })
	}
	t.Run("RecordsDeletedBeforeTheyWereReadAreAnError", func(t *testing.T) {
		recordsDeletedBeforeTheyWereReadAreAnError(t, newTestLog(t, Dependencies{}, brokers...))
	})
}

func publishKeepsOrderAcrossRequests(t *testing.T, l *testLog) {
	l.ensure()
	var records []*record.Record
	for mc := uint32(1); mc <= 10; mc++ {
		records = append(records, bundle(mc, mc-1, 8, 400<<10)...)
	}
	l.publish(1, records...)
	got := l.raw(1, len(records))
	if places(got) != places(records) {
		t.Fatalf("got %s", places(got))
	}
	for i := range got {
		if !got[i].EqualVT(records[i]) {
			t.Fatalf("record %s changed on its way", place(got[i]))
		}
	}
}

func topicsWithAnotherPartitionCountAreRefused(t *testing.T, l *testLog) {
	l.ensure()
	l.ensure()
	l.configuration.Partitions = 4
	err := l.EnsureTopics(t.Context(), []schema.Topic{l.topic})
	if err == nil || !strings.Contains(err.Error(), "has 2 partitions, but 4 are configured") {
		t.Fatal(err)
	}
}

func topicsAreLookedForWithoutBeingMade(t *testing.T, l *testLog) {
	other := schema.Topic{Name: l.topic.Name + "-other"}
	for _, made := range []bool{false, false, true} {
		if made {
			l.ensure()
		}
		if there, err := l.HasTopics(t.Context(), []schema.Topic{l.topic}); err != nil || there != made {
			t.Fatalf("the topic is there: %t, want %t; %v", there, made, err)
		}
		if there, err := l.HasTopics(t.Context(), []schema.Topic{l.topic, other}); err != nil || there {
			t.Fatalf("both topics are there: %t; %v", there, err)
		}
	}
	l.configuration.Partitions = 4
	if _, err := l.HasTopics(t.Context(), []schema.Topic{l.topic}); err == nil || !strings.Contains(err.Error(), "has 2 partitions, but 4 are configured") {
		t.Fatal(err)
	}
}

func lastSealIsTheLastCompleteBundle(t *testing.T, l *testLog) {
	l.ensure()
	seal := func() *record.Record {
		t.Helper()
		r, err := l.LastSeal(t.Context(), l.topic.Name, 0)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := seal(); r != nil {
		t.Fatalf("an empty log has seal %s", place(r))
	}
	second := bundle(8, 7, 300, 10)
	l.publish(0, second[:100]...)
	if r := seal(); r != nil {
		t.Fatalf("an open bundle has seal %s", place(r))
	}
	l.publish(0, bundle(7, 6, 3, 10)...)
	if r := seal(); place(r) != "7.3" {
		t.Fatalf("seal %s", place(r))
	}
	l.publish(0, second[:290]...)
	if r := seal(); place(r) != "7.3" {
		t.Fatalf("seal %s", place(r))
	}
	l.publish(0, second[290:]...)
	if r := seal(); place(r) != "8.300" || r.GetSeal().Rows != 300 {
		t.Fatalf("seal %s", place(r))
	}
}
