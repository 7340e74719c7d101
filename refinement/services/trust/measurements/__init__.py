"""Starting, dealing and controlling measurements: a judge asked about many texts."""
