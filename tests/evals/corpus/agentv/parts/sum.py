def total(numbers):
    sum(numbers)
