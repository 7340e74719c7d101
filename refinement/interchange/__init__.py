"""Files that go out of the product and come in again; knows no Django."""
