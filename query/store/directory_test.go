package store

import "testing"

func TestWhoWaitedForATurnWithADirectoryThatWasDroppedMeanwhileDoesNotUseIt(t *testing.T) {
	v := &View{Watermark: 7}
	dropped := &directory{codes: []Hash{noCode}, numbers: map[Hash]uint32{noCode: 0}}
	usable, err := dropped.learnInTurn(t.Context(), nil, v)
	if usable || err != nil {
		t.Errorf("a dropped directory: usable %t, %v; want false and no error", usable, err)
	}
	brought := &directory{upTo: 7}
	if usable, err = brought.learnInTurn(t.Context(), nil, v); !usable || err != nil {
		t.Errorf("a directory that somebody else brought to the view: usable %t, %v; want true and no error", usable, err)
	}
}
