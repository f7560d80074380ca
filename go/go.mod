module github.com/deja-url/deja/go

go 1.19
