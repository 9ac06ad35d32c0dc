"""Keys of a [[target]] that engines share: read and checked in one way."""
