module example.org/settings

go 1.18
