package migrations

import "github.com/golang-migrate/migrate/v4/database"

// versions writes that a migration is done only when no other one follows: that the
// next one has begun says the same, and every row is an insert.
type versions struct {
	database.Driver
	done *int // not written yet
}

// SetVersion is part of database.Driver.
func (v *versions) SetVersion(version int, dirty bool) error {
	if v.done = nil; dirty {
		return v.Driver.SetVersion(version, true)
	}
	v.done = &version
	return nil
}

// Version is part of database.Driver.
func (v *versions) Version() (version int, dirty bool, err error) {
	if err := v.write(); err != nil {
		return 0, false, err
	}
	return v.Driver.Version()
}

// write writes what is not written yet.
func (v *versions) write() error {
	done := v.done
	if v.done = nil; done == nil {
		return nil
	}
	return v.Driver.SetVersion(*done, false)
}
