module example.com/deja/go

go 1.19
