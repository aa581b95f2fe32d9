event one;
