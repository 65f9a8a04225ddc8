package linalg

// Team is processes, its members, that hold the rows of one low-rank factor together. They
// run the same program and call the same methods in the same order. See dist.NewTeam.
type Team interface {
	// Rank is the number of this member, from 0 to Size-1.
	Rank() int
	Size() int
	// Sum adds x up over the members. All get the same, bit for bit.
	Sum(x []float64)
	// Broadcast copies member from's x to all.
	Broadcast(x []float64, from int)
	// Agree is nil if err is nil on all members, and otherwise an error on all.
	Agree(err error) error
}
