"""`python -m doctor` from a bare checkout or an installed package."""

from doctor.cli import main

if __name__ == "__main__":
    main()
