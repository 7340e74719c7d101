"""Messages to other people's servers: where they may go, how they are signed, how they are sent."""
