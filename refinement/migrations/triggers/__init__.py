"""What the database itself enforces and keeps: rules that no ORM call and no SQL by hand gets around."""
