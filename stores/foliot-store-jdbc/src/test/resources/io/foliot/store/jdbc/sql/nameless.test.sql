SELECT {nothing}
