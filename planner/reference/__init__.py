"""What files, commands and the API hold, told for people: read from the code that reads them."""
